-- expect: status=succeeded
-- expect_result: true
-- limits: memory_mb=16 timeout_ms=10000
-- category: memory
-- note: gsub holds a large buffer when its callback fails in a coroutine that nobody closes
local subject = ("x"):rep(200000)
for i = 1, 100 do
  local n = 0
  coroutine.resume(coroutine.create(function()
    subject:gsub("x", function() n = n + 1 if n == 150000 then error("stop") end end)
  end))
end
return true
