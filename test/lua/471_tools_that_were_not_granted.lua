-- expect: status=succeeded
-- expect_result: ["tool_not_found","tool_not_found","tool_not_found","tool_not_found",0]
-- category: tools
local function code(f, ...) return select(2, pcall(f, ...)).code end
return code(tools.sql.query, {query = "SELECT 1"}), code(tools.call, "nothing.of.that.name"),
  code(workspace.get, "key"), code(executions.enqueue, {code = "return 1"}), tools.search{}.total
