-- expect: status=succeeded
-- expect_result: [true,false,"module 'socket' is not registered",false]
-- category: capability
local ok, e = pcall(require, "socket")
return require "json" == json, ok, (e:gsub("^code:%d+: ", "")), (pcall(require, "string"))
