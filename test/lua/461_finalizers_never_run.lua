-- expect: status=succeeded
-- expect_result: 0
-- expect_stdout: ""
-- category: coroutine_gc_close
local ran = 0
for i = 1, 100 do setmetatable({}, {__gc = function() ran = ran + 1 print("gc") end}) end
collectgarbage() collectgarbage()
return ran
