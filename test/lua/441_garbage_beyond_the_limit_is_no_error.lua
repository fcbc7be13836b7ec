-- expect: status=succeeded
-- expect_result: 2000
-- limits: memory_mb=16 timeout_ms=10000
-- category: memory
-- note: 2 GB of garbage pass through 16 MB
local n = 0
for i = 1, 2000 do local s = ("x"):rep(1024 * 1024) .. i n = n + (#s > 0 and 1 or 0) end
return n
