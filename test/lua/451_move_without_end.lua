-- expect: status=timed_out
-- limits: timeout_ms=500
-- max_wall_ms: 1500
-- category: cpu
-- note: one C loop, no instruction of the VM: only a kill from outside ends it
table.move({}, 1, 1 << 40, 2)
