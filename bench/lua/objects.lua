-- tables with named fields: planets that attract each other
local function body(x, y, z, vx, vy, vz, mass)
	return { x = x, y = y, z = z, vx = vx, vy = vy, vz = vz, mass = mass }
end

local bodies = {
	body(0, 0, 0, 0, 0, 0, 39.47),
	body(4.84, -1.16, -0.10, 0.60, 2.81, -0.02, 0.037),
	body(8.34, 4.12, -0.40, -1.01, 1.81, 0.008, 0.011),
	body(12.89, -15.11, -0.22, 1.08, 0.86, -0.01, 0.0017),
	body(15.37, -25.91, 0.17, 0.97, 0.59, -0.03, 0.0020),
}

local function advance(dt)
	for i = 1, #bodies do
		local p = bodies[i]
		for j = i + 1, #bodies do
			local q = bodies[j]
			local dx, dy, dz = p.x - q.x, p.y - q.y, p.z - q.z
			local d2 = dx * dx + dy * dy + dz * dz
			local force = dt / (d2 * math.sqrt(d2))
			p.vx, p.vy, p.vz = p.vx - dx * q.mass * force, p.vy - dy * q.mass * force, p.vz - dz * q.mass * force
			q.vx, q.vy, q.vz = q.vx + dx * p.mass * force, q.vy + dy * p.mass * force, q.vz + dz * p.mass * force
		end
	end
	for _, p in ipairs(bodies) do
		p.x, p.y, p.z = p.x + dt * p.vx, p.y + dt * p.vy, p.z + dt * p.vz
	end
end

for _ = 1, 120000 do advance(0.01) end
return bodies[1].x
