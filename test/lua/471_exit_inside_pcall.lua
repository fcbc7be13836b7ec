-- expect: status=failed
-- expect_error_contains: "exited with code 3"
-- expect_stdout: "before\n"
-- category: errors
print("before")
pcall(function() os.exit(3) end)
print("after")
