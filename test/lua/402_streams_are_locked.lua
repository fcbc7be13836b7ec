-- expect: status=succeeded
-- expect_stdout: "ab1\n"
-- expect_result: [false,false,null,true]
-- category: capability
io.stdout:write("a"):write("b"):flush()
io.write(1, "\n")
local ok = pcall(setmetatable, io.stdout, {})
return getmetatable(io.stdout), ok, io.read("a"), io.stdout:setvbuf("no") ~= nil
