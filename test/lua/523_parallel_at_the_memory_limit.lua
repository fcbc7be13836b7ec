-- expect: status=failed
-- expect_error_contains: "memory limit"
-- category: parallel
-- limits: memory_mb=16
local x <close> = setmetatable({}, {__close = function() print("closed") end})
pcall(parallel, function() end, function()
  local t = {}
  for i = 1, 1e9 do t[i] = {} end
end)
return "caught"
