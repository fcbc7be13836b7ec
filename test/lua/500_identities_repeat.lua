-- expect: status=succeeded
-- expect_stdout: "table: 1\tfunction: 2\ttable: 1\ttrue\n"
-- category: determinism_sidechannel
-- note: objects are numbered as they are first printed
local t = {}
print(t, print, t, ("%p"):format(t) == tostring(t):match("%d+"))
