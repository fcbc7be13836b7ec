-- expect: status=failed
-- expect_error_contains: "memory"
-- category: memory
local parts = {}
for i = 1, 70 do parts[i] = ("x"):rep(1024 * 1024) .. i end
return #parts
