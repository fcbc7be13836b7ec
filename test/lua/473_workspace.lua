-- expect: status=succeeded
-- expect_result: [null,{"list":[1,2,3],"n":9007199254740993},["a","b"],["b"],true,false,["a"]]
-- category: tools
-- tools: {workspace.*}
local before = workspace.get("a")
workspace.set("a", {n = 9007199254740993, list = {1, 2, 3}})
workspace.set("b", "text")
local all, some = workspace.list(), workspace.list("b")
local value = workspace.get("a")
return before or json.null, value, all, some, workspace.delete("b"), workspace.delete("b"), workspace.list()
