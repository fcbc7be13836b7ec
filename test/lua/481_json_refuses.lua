-- expect: status=succeeded
-- expect_result: 0
-- category: return
local taken = 0
for _, text in ipairs{"", "[1,]", "{a:1}", "01", "1.", "nul", '"\\ud800"', '"\t"', "[1] x", "'x'", "\xff", ("["):rep(101) .. ("]"):rep(101)} do
  if pcall(json.decode, text) then taken = taken + 1 end
end
local cycle = {} cycle[1] = cycle
for _, value in ipairs{print, 0/0, 1/0, "\xff", cycle, {1, a = 2}, {[2] = 1}, {[1.5] = 1}, coroutine.create(print)} do
  if pcall(json.encode, value) then taken = taken + 1 end
end
return taken
