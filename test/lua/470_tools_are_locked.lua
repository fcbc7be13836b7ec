-- expect: status=succeeded
-- expect_result: ["tool: a.b","userdata",false,false,false,false,false,"function"]
-- category: tools
local t = tools.a.b
return tostring(t), type(t), (pcall(function() tools.x = 1 end)), (pcall(function() t.x = 1 end)),
  (pcall(setmetatable, tools, {})), getmetatable(t), getmetatable(tools), type(tools.call)
