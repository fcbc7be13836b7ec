-- expect: status=succeeded
-- expect_result: ["no","yes",true]
-- category: lua_bug
-- note: 5.4.0 to 5.4.7 misrun an upvalue that is indexed by a comparison
local t = {[true] = "yes", [false] = "no"}
local function f(x) return t[x > 5] end
return f(1), f(9), (function(...) return select("#", ...) == 2 end)(f(1), f(9))
