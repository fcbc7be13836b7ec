-- expect: status=succeeded
-- expect_result: [["the",3],["fox",2],["a",1]]
-- category: legit
-- verify: lua5.4
local counts, order = {}, {}
for w in ("The quick fox saw the lazy dog and the FOX ran: a"):lower():gmatch("%a+") do
  if not counts[w] then order[#order + 1] = w end
  counts[w] = (counts[w] or 0) + 1
end
table.sort(order, function(x, y) return counts[x] > counts[y] or (counts[x] == counts[y] and x < y) end)
local top = {}
for i = 1, 3 do top[i] = {order[i], counts[order[i]]} end
return top
