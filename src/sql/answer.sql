/*
 * One answer to one pause, whoever gives it: resume(), signal(), time, a child.
 *
 * The caller holds the lock of the execution's row, which lives, and has seen
 * under it that the pause is open.  The answer is kept here until a claim
 * delivers it; a paused execution is queued for that.
 */
CREATE FUNCTION sandbox_exec._answer(
    call_id uuid, outcome text, content jsonb, scope text, answered_by regrole, actor text)
RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    p record;
    e record;
BEGIN
    UPDATE sandbox_exec.pause x
    SET outcome = _answer.outcome, content = _answer.content, scope = _answer.scope, answered_at = now,
        answered_by = _answer.answered_by, actor = _answer.actor
    WHERE x.call_id = _answer.call_id
    RETURNING x.execution_id, x.seq INTO p;
    UPDATE sandbox_exec.execution x
    SET status = CASE x.status WHEN 'paused' THEN 'queued' ELSE x.status END,
        ready = x.ready OR x.status = 'paused',
        updated_at = CASE x.status WHEN 'paused' THEN now ELSE x.updated_at END,
        open_pauses = x.open_pauses - 1, answers = x.answers + 1,
        log_pos = x.log_pos + 1, log_size = x.log_size + 150
    WHERE x.id = p.execution_id
    RETURNING x.status, x.log_pos, x.rank, x.run_at INTO e;
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    VALUES (p.execution_id, e.log_pos, now, 'resumed',
            jsonb_build_object('seq', p.seq, 'call_id', call_id, 'action', outcome));
    PERFORM sandbox_exec._wake(p.execution_id);
    IF e.status = 'queued' THEN
        PERFORM sandbox_exec._row_ready(e.rank, e.run_at, p.execution_id);
    END IF;
END
$$;

/*
 * What the code gets.  An approval has no outcome yet, when it was given: the
 * tool is still to be run.
 */
CREATE FUNCTION sandbox_exec._answered_value(p sandbox_exec.pause, OUT outcome text, OUT value jsonb)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    outcome := 'ok';
    IF p.kind = 'ask' THEN
        value := jsonb_build_object('action', p.outcome, 'content', p.content);
    ELSIF p.kind = 'event' THEN
        value := CASE p.outcome WHEN 'accept' THEN jsonb_build_object('payload', p.content) ELSE '{"timeout": true}' END;
    ELSIF p.kind = 'sleep' THEN
        value := NULL;
    ELSIF p.kind = 'child' THEN
        value := p.content;
        outcome := CASE p.outcome WHEN 'accept' THEN 'ok' ELSE 'error' END;
    ELSIF p.outcome = 'accept' THEN
        value := CASE p.kind WHEN 'external' THEN p.content END;
        outcome := CASE p.kind WHEN 'external' THEN 'ok' ELSE 'pending' END;
    ELSE
        outcome := 'error';
        value := sandbox_exec._refusal(p.name, CASE p.kind WHEN 'external' THEN 'tool' ELSE 'approval' END,
                                       CASE p.outcome WHEN 'decline' THEN 'declined' ELSE 'cancelled' END, p.content);
    END IF;
END
$$;

-- the error of a tool that somebody did not want to be called; it never ran
CREATE FUNCTION sandbox_exec._refusal(tool text, what text, how text, reason jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_strip_nulls(jsonb_build_object(
    'code', what || '_' || how, 'tool', tool, 'message', format('the call of tool "%s" was %s', tool, how)))
    || CASE WHEN reason IS NOT NULL THEN jsonb_build_object('detail', reason) ELSE '{}' END;
