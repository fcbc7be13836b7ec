-- integer loops over an array: primes by sieve, five times
local n, found = 1000000, 0
local composite = {}
for _ = 1, 5 do
	for i = 1, n do composite[i] = false end
	for i = 2, n do
		if not composite[i] then
			found = found + 1
			for j = i * i, n, i do composite[j] = true end
		end
	end
end
return found
