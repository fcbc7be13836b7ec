/*
 * Deliver: what has come in for claimed executions becomes outcomes of their
 * calls, numbered in the order of answering.
 *
 * This happens in the claim and nowhere else.  So all that an attempt can be
 * given is settled before it begins, and the next attempt gets it in the same
 * order: an answer numbered when it came, in the middle of an attempt, would
 * have the next one take another way through parallel().
 */
CREATE FUNCTION sandbox_exec._deliver(ids uuid[], now timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    claimed uuid;
    p sandbox_exec.pause;
    e record;
    a record;
    size integer;
BEGIN
    FOREACH claimed IN ARRAY ids LOOP
        FOR p IN
            SELECT x.* FROM sandbox_exec.pause x
                 JOIN sandbox_exec.call c ON c.execution_id = x.execution_id AND c.seq = x.seq
            WHERE x.execution_id = claimed AND x.outcome IS NOT NULL AND c.delivered_no IS NULL
            ORDER BY x.answered_at, x.seq
        LOOP
            a := sandbox_exec._answered_value(p);
            size := coalesce(octet_length(a.value::text), 0);
            UPDATE sandbox_exec.execution x
            SET delivered_count = x.delivered_count + 1, answers = x.answers - 1, journal_size = x.journal_size + size,
                log_pos = x.log_pos + (a.outcome <> 'pending')::integer, log_size = x.log_size + least(size, 8192) + 100
            WHERE x.id = claimed
            RETURNING x.delivered_count, x.log_pos, x.log_size <= 4194304 AS room INTO e;
            UPDATE sandbox_exec.call c
            SET outcome = a.outcome, value = a.value, delivered_no = e.delivered_count, created_at = p.answered_at
            WHERE c.execution_id = p.execution_id AND c.seq = p.seq;
            IF a.outcome <> 'pending' THEN
                INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
                SELECT p.execution_id, e.log_pos, now, r ->> 'type', r -> 'data'
                FROM sandbox_exec._returned_event(p.seq, a.outcome, a.value, e.room AND size <= 8192) r;
            END IF;
        END LOOP;
    END LOOP;
END
$$;
