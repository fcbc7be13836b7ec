-- expect: status=succeeded
-- expect_result: {"big":9223372036854775807,"empty":{},"list":[],"n":null,"nested":[[1],[],{"a":[null]}],"text":"a\u0001\u20ac\ud83d\ude00"}
-- category: return
local text = [[{"big":9223372036854775807,"empty":{},"list":[],"n":null,"nested":[[1],[],{"a":[null]}],"text":"a\u0001\u20ac\ud83d\ude00"}]]
return json.decode(json.encode(json.decode(text)))
