-- expect: status=succeeded
-- expect_result: [true,"{\"a\":1,\"b\":2,\"c\":[1,2]}"]
-- category: return
local one, other = {}, {}
for i = 1, 500 do one["k" .. i] = i end
for i = 500, 1, -1 do other["k" .. i] = i other["gone" .. i] = 1 end
for i = 1, 500 do other["gone" .. i] = nil end
return json.encode(one) == json.encode(other), json.encode({b = 2, c = {1, 2}, a = 1})
