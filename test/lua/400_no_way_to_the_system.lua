-- expect: status=succeeded
-- expect_result: []
-- category: capability
local found = {}
for _, name in ipairs{"debug", "package", "dofile", "loadfile", "warn", "newproxy", "arg"} do
  if _G[name] ~= nil then found[#found + 1] = name end
end
for _, name in ipairs{"open", "popen", "lines", "tmpfile", "input", "output", "stdin", "close"} do
  if io[name] ~= nil then found[#found + 1] = "io." .. name end
end
for _, name in ipairs{"execute", "getenv", "remove", "rename", "tmpname", "setlocale"} do
  if os[name] ~= nil then found[#found + 1] = "os." .. name end
end
return found
