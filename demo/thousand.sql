BEGIN;
SELECT count(*) AS enqueued
FROM sandbox_exec.enqueue_many((
	SELECT jsonb_agg(jsonb_build_object('code', 'return args * args', 'args', i, 'thread_id', 'squares'))
	FROM generate_series(1, 1000) i));
-- part of this transaction: nothing runs before the commit
SELECT runtime, ready, running FROM sandbox_exec.queue_stats;
COMMIT;
