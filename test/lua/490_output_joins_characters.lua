-- expect: status=succeeded
-- expect_stdout: "\u20ac|\ufffd|\ufffd\ufffdx|\ufffd"
-- category: output
io.write("\xE2") io.write("\x82") io.write("\xAC|")
io.write("\0|")
io.write("\xE2\x82") io.write("x|")
io.write("\xC3")
