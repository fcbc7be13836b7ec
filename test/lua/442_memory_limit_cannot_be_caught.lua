-- expect: status=failed
-- expect_error_contains: "memory limit"
-- expect_stdout: "start\n"
-- category: memory
print("start")
local function hog() local t = {} while true do t[#t + 1] = ("x"):rep(1000) .. #t end end
while true do
  pcall(hog)
  xpcall(hog, function() end)
  coroutine.resume(coroutine.create(hog))
  print("caught")
end
