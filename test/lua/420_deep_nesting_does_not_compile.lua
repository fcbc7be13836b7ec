-- expect: status=succeeded
-- expect_result: [true,true]
-- category: source
local f, e = load("return " .. ("("):rep(10000) .. "1" .. (")"):rep(10000))
local g = load(("do "):rep(10000) .. ("end "):rep(10000))
return f == nil and e:find("overflow") ~= nil, g == nil
