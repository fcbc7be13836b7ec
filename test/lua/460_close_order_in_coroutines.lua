-- expect: status=succeeded
-- expect_result: [["b","a"],true,"dead"]
-- category: coroutine_gc_close
-- verify: lua5.4
local log = {}
local function closing(name) return setmetatable({}, {__close = function() log[#log + 1] = name end}) end
local co = coroutine.create(function()
  local a <close> = closing("a")
  local b <close> = closing("b")
  coroutine.yield()
end)
coroutine.resume(co)
return log, coroutine.close(co), coroutine.status(co)
