-- expect: status=succeeded
-- expect_result: [[1,null,3],0,["first",null],[false,"one"],"a1 b1 b2 c1"]
-- category: parallel
-- Branches that make no call run one after the other, each to its end.
local order = {}
local function say(what) order[#order + 1] = what end
local function raise(what) return function() error(what, 0) end end

local results = table.pack(parallel(
  function() say "a1" return 1, 2 end,
  function() parallel(function() say "b1" end, function() say "b2" end) end,
  function() say "c1" return 3 end))
results.n = nil
local both = {parallel(function() return "first" end, function() return json.null end)}
local failed = {pcall(parallel, function() return 1 end, raise "one", raise "two")}
return json.array {results[1], json.null, results[3]}, select("#", parallel()), both, failed, table.concat(order, " ")
