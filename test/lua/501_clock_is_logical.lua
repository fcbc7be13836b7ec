-- expect: status=succeeded
-- expect_result: [0.0,0.001,true,1000]
-- category: determinism_sidechannel
local a, b = os.clock(), os.clock()
local start, readings = os.time(), 0
while os.time() < start + 1 do readings = readings + 1 end
return a, b, readings < 1000, (os.time() - start) * 1000
