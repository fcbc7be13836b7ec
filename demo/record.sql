SELECT status, error_code, count(*), max(attempt_count) AS attempts
FROM sandbox_exec.executions GROUP BY status, error_code ORDER BY status, error_code;
SELECT kind, state, executions FROM sandbox_exec.workers ORDER BY kind, worker_no;
SELECT * FROM sandbox_exec.health;
