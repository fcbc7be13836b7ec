-- expect: status=succeeded
-- expect_result: ["1970-01-01T00:00:00","Thu Jan  1 00:00:00 1970",951782400,"2024-02-29",366,"+0000"]
-- category: determinism_sidechannel
local t = {year = 2024, month = 3, day = 0}
os.time(t)
return os.date("%Y-%m-%dT%H:%M:%S", 0), os.date("!%c", 0), os.time{year = 2000, month = 2, day = 29, hour = 0},
  ("%04d-%02d-%02d"):format(t.year, t.month, t.day), os.date("*t", os.time{year = 2024, month = 12, day = 31}).yday,
  os.date("%z")
