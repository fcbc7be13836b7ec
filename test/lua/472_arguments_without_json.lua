-- expect: status=succeeded
-- expect_result: ["invalid_tool_arguments","invalid_tool_arguments","invalid_tool_arguments","invalid_tool_arguments","invalid_tool_arguments",1]
-- category: tools
-- tools: {workspace.*}
local function code(args) return select(2, pcall(tools.workspace.set, args)).code end
local cycle = {key = "k"}
cycle.value = cycle
local codes = {code{key = "k", value = print}, code{key = "k", value = 0/0}, code(cycle), code{"k", 1}, code("k")}
workspace.set("k", 1)
codes[#codes + 1] = workspace.get("k")
return codes
