-- expect: status=succeeded
-- expect_result: 14
-- category: pauses
-- What is wrong is said before anyone is asked.
local wrong = {
  function() ask() end,
  function() ask "go?" end,
  function() ask {} end,
  function() ask {message = 1} end,
  function() ask {message = "go?", other = 1} end,
  function() ask {message = "go?", schema = {}, url = "https://example.org"} end,
  function() ask {message = "go?", expires = 0} end,
  function() sleep() end,
  function() sleep(-1) end,
  function() sleep(0 / 0) end,
  function() sleep(math.huge) end,
  function() await_event("") end,
  function() await_event(("x"):rep(256)) end,
  function() await_event("paid", -1) end}
local refused = 0
for _, call in ipairs(wrong) do
  local ok, e = pcall(call)
  if not ok and e:find "bad argument #%d to '[%a_]+'" then refused = refused + 1 end
end
return refused
