-- sorting, by the built-in order and by a function
local seed = 42
local function random()
	seed = (seed * 1103515245 + 12345) % 2147483648
	return seed
end

local list = {}
for i = 1, 200000 do list[i] = random() end
table.sort(list)
local records = {}
for i = 1, 120000 do records[i] = { key = random(), name = "n" .. i } end
table.sort(records, function(a, b) return a.key < b.key end)
return { list[1], records[1].name }
