-- expect: status=failed
-- expect_error_contains: "inner"
-- category: errors
local gen = coroutine.wrap(function() local t = nil coroutine.yield(1) error("inner") end)
gen()
gen()
