-- expect: status=succeeded
-- expect_result: [true,true,5]
-- category: env
x = 5
return load("return _G")() == _G, load("return debug")() == nil, load("return x")()
