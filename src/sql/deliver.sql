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
    full_up boolean;
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
            SELECT x.journal_size + size > 33554432 INTO full_up FROM sandbox_exec.execution x WHERE x.id = claimed;
            IF full_up THEN
                a.outcome := 'error';
                a.value := sandbox_exec._answer_too_large(p, size);
                size := octet_length(a.value::text);
            END IF;
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

-- for an answer for which the journal has no room
CREATE FUNCTION sandbox_exec._answer_too_large(p sandbox_exec.pause, size integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sandbox_exec._call_error('result_too_large', 'the answer is too large for this execution',
        CASE WHEN p.kind IN ('external', 'child') THEN p.name END,
        format('It has %s bytes as text; all arguments and results together may have 33554432.', size),
        'Have large data kept in a table, and answered with its key.');
END
$$;
