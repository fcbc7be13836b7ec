-- expect: status=succeeded
-- expect_result: [true,false,"module_not_found","module \"socket\" does not exist",false]
-- category: capability
local ok, e = pcall(require, "socket")
return require "json" == json, ok, e.code, e.message, (pcall(require, "string"))
