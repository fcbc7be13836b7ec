-- expect: status=succeeded
-- expect_result: [true,true,true,100000]
-- category: parallel
-- Branches without end are an error, as recursion without end is.
local function nested() parallel(nested) end
local function hidden() ("x"):gsub("x", function() parallel(hidden) end) end
local function has(f, text) local ok, e = pcall(f) return not ok and e:find(text, 1, true) ~= nil end
local many = {}
for i = 1, 101 do many[i] = print end
local n = 0
for _ = 1, 1e5 do parallel(function() n = n + 1 end) end
return has(nested, "too many branches"), has(hidden, "C stack overflow"),
  has(function() parallel(table.unpack(many)) end, "the limit is 100"), n
