-- expect: status=succeeded
-- expect_result: [true,false,"module \"socket\" does not exist",false]
-- category: capability
local ok, e = pcall(require, "socket")
return require "json" == json, ok, e.message, (pcall(require, "string"))
