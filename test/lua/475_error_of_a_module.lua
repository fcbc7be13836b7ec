-- expect: status=failed
-- expect_error_contains: "test.broken:1: no luck"
-- category: tools
print(pcall(require, "test.invalid"))
require "test.broken"
