-- expect: status=failed
-- expect_error_contains: "the real one"
-- category: env
-- note: what turns an error into its text looks up nothing that the code can replace
tostring, type, pairs, next, error2 = nil, nil, nil, nil, error
string.format, string.sub, json.encode, print = nil, nil, nil, nil
setmetatable(_G, {__index = function() error2("hijacked", 0) end, __newindex = error2})
error2({message = "the real one"})
