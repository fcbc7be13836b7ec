-- expect: status=succeeded
-- expect_result: [1,2,3,"done"]
-- category: tools
-- tools: {workspace.*}
local worker = coroutine.wrap(function()
  for i = 1, 3 do
    workspace.set("i", i)
    coroutine.yield(workspace.get("i"))
  end
  return "done"
end)
local sorted = {3, 1, 2}
table.sort(sorted, function(a, b) workspace.get("i") return a < b end)
assert(table.concat(sorted) == "123")
return worker(), worker(), worker(), worker()
