-- expect: status=succeeded
-- expect_result: [1,true,"module_not_found",true]
-- category: tools
local one, two = require "test.counter", require "test.counter"
one.count = one.count + 1
return two.count, one == two, select(2, pcall(require, "test.missing")).code, require "test.nothing"
