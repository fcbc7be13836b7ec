-- closures and coroutines: a chain of generators
local function numbers(n)
	return coroutine.wrap(function()
		for i = 1, n do coroutine.yield(i) end
	end)
end

local function filtered(source, keep)
	return coroutine.wrap(function()
		for value in source do
			if keep(value) then coroutine.yield(value) end
		end
	end)
end

local source = numbers(900000)
for _, divisor in ipairs { 2, 3, 5, 7 } do
	source = filtered(source, function(value) return value % divisor ~= 0 end)
end
local total = 0
for value in source do total = total + value end
return total
