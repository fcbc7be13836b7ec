-- expect: status=succeeded
-- expect_result: [true,true,true]
-- category: bytecode
local pieces, i = {"\27Lu", "aT\0\x19\x93", nil}, 0
local f = load(function() i = i + 1 return pieces[i] end, "x", "bt")
local g = load("\27", "x")
return f == nil, g == nil, string.dump == nil
