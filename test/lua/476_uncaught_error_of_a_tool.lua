-- expect: status=failed
-- expect_error_contains: "tool \"app.nothing\" does not exist"
-- category: tools
tools.app.nothing{}
