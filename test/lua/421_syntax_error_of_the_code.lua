-- expect: status=failed
-- expect_error_contains: "code:5:"
-- category: source
-- note: the comment lines above count: the error is reported where it stands in the file
local x == 1
