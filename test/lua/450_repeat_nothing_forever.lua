-- expect: status=succeeded
-- expect_result: ["","","",5]
-- max_wall_ms: 1000
-- category: cpu
return (""):rep(math.maxinteger), ("x"):rep(-1), (""):rep(math.maxinteger, ""), #("x"):rep(3, ",")
