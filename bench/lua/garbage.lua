-- memory: trees that are built and thrown away
local function tree(depth)
	if depth == 0 then return {} end
	return { tree(depth - 1), tree(depth - 1) }
end

local function count(node)
	if not node[1] then return 1 end
	return 1 + count(node[1]) + count(node[2])
end

local long_lived = tree(14)
local total = 0
for _ = 1, 220 do total = total + count(tree(12)) end
return total + count(long_lived)
