-- strings: building, formatting, matching, replacing
local parts = {}
for i = 1, 120000 do parts[#parts + 1] = string.format("%d:%s;", i, ("x"):rep(i % 17)) end
local text = table.concat(parts)
local sum = 0
for number in text:gmatch("(%d+):") do sum = sum + tonumber(number) end
local replaced, times = text:gsub("x+", function(run) return #run end)
for word in replaced:gmatch("[^;]+") do sum = sum + #word:upper() end
return { sum, times, #replaced }
