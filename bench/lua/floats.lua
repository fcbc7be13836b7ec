-- arithmetic on floats: the spectral norm of a matrix
local function a(i, j)
	local ij = i + j - 1
	return 1.0 / (ij * (ij - 1) * 0.5 + i)
end

local function multiply(n, x, y)
	for i = 1, n do
		local sum = 0
		for j = 1, n do sum = sum + x[j] * a(i, j) end
		y[i] = sum
	end
end

local function multiply_transposed(n, x, y)
	for i = 1, n do
		local sum = 0
		for j = 1, n do sum = sum + x[j] * a(j, i) end
		y[i] = sum
	end
end

local n = 360
local u, v, t = {}, {}, {}
for i = 1, n do u[i] = 1 end
for _ = 1, 10 do
	multiply(n, u, t)
	multiply_transposed(n, t, v)
	multiply(n, v, t)
	multiply_transposed(n, t, u)
end
local vbv, vv = 0, 0
for i = 1, n do
	vbv = vbv + u[i] * v[i]
	vv = vv + v[i] * v[i]
end
return math.sqrt(vbv / vv)
