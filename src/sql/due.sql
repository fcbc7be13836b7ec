/*
 * Pauses that answer themselves: when their time has come, or when the child has
 * ended that they wait for.  A call that a person was asked about is cancelled
 * by its time, an event as well, and a sleep is over.
 */

-- those of one execution, which lives and whose row the caller has locked
CREATE FUNCTION sandbox_exec._answer_due_of(id uuid, now timestamptz) RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    p record;
    child record;
    answered integer := 0;
BEGIN
    -- before the look: what ends after that comes again
    DELETE FROM sandbox_exec.child_end c WHERE c.parent_id = _answer_due_of.id;
    FOR p IN
        SELECT x.call_id, x.kind, x.child_id FROM sandbox_exec.pause x
        WHERE x.execution_id = _answer_due_of.id AND x.outcome IS NULL
              AND (x.due_at <= now OR (x.kind = 'child' AND NOT EXISTS (
                  SELECT FROM sandbox_exec.execution c WHERE c.id = x.child_id AND c.finished_at IS NULL)))
        ORDER BY x.due_at, x.seq
    LOOP
        IF p.kind = 'child' THEN
            child := sandbox_exec._child_outcome(id, p.child_id);
            CONTINUE WHEN child.outcome IS NULL;
            PERFORM sandbox_exec._answer(p.call_id, CASE child.outcome WHEN 'ok' THEN 'accept' ELSE 'cancel' END,
                                         child.value, 'call', NULL, NULL);
        ELSE
            PERFORM sandbox_exec._answer(p.call_id, CASE p.kind WHEN 'sleep' THEN 'accept' ELSE 'cancel' END,
                                         NULL, 'call', NULL, NULL);
        END IF;
        answered := answered + 1;
    END LOOP;
    RETURN answered;
END
$$;

-- write down what the end of an execution meant for its pauses, so that no
-- index holds them any more; its row is locked
CREATE FUNCTION sandbox_exec._close(id uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    UPDATE sandbox_exec.pause p SET outcome = 'cancel', answered_at = clock_timestamp()
    WHERE p.execution_id = _close.id AND p.outcome IS NULL;
    DELETE FROM sandbox_exec.child_end c WHERE c.parent_id = _close.id;
END
$$;

-- of these executions, those that nobody holds; the others are looked at again
-- until they have been reached
CREATE FUNCTION sandbox_exec._answer_due(ids uuid[], now timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    execution record;
    reached uuid[] := '{}';
    answered bigint := 0;
BEGIN
    FOR execution IN
        SELECT e.id, e.finished_at IS NOT NULL AS ended FROM sandbox_exec.execution e
        WHERE e.id = ANY (ids)
        ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        reached := reached || execution.id;
        IF execution.ended THEN
            PERFORM sandbox_exec._close(execution.id);
        ELSE
            answered := answered + sandbox_exec._answer_due_of(execution.id, now);
        END IF;
    END LOOP;
    IF NOT ids <@ reached THEN
        PERFORM sandbox_exec._work_due(now + interval '1 s');
    END IF;
    RETURN answered;
END
$$;

-- for promote(): what is due, and parents that nobody told of their children's end
CREATE FUNCTION sandbox_exec._answer_all_due(max_rows integer, now timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    ids CONSTANT uuid[] := ARRAY(
        SELECT p.execution_id FROM sandbox_exec.pause p
        WHERE p.outcome IS NULL AND p.due_at <= now
        ORDER BY p.due_at LIMIT max_rows);
    parents CONSTANT uuid[] := ARRAY(SELECT c.parent_id FROM sandbox_exec.child_end c LIMIT max_rows);
BEGIN
    DELETE FROM sandbox_exec.child_end c
    WHERE c.parent_id = ANY (parents)
          AND NOT EXISTS (SELECT FROM sandbox_exec.execution e WHERE e.id = c.parent_id);
    RETURN CASE WHEN ids || parents = '{}' THEN 0 ELSE sandbox_exec._answer_due(ids || parents, now) END;
END
$$;

-- for workers: these executions have ended; what is locked is left to promote()
CREATE FUNCTION sandbox_exec._answer_parents(children uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    parents CONSTANT uuid[] := ARRAY(
        SELECT c.parent_id FROM sandbox_exec.child_end c WHERE c.child_id = ANY (children));
BEGIN
    IF parents <> '{}' THEN
        PERFORM sandbox_exec._answer_due(parents, clock_timestamp());
    END IF;
END
$$;

-- when a child ends: note it, and have a worker look
CREATE FUNCTION sandbox_exec._tell_parent(id uuid, parent_id uuid, due timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF parent_id IS NOT NULL THEN
        INSERT INTO sandbox_exec.child_end (child_id, parent_id) VALUES (id, _tell_parent.parent_id) ON CONFLICT DO NOTHING;
        PERFORM sandbox_exec._work_due(due);
    END IF;
END
$$;
