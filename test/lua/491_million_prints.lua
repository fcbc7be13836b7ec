-- expect: status=succeeded
-- expect_result: "done"
-- limits: timeout_ms=5000
-- category: output
for i = 1, 1000000 do print(i) end
return "done"
