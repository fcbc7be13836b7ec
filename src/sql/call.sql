/*
 * A call, seen from its rows.  The sequence is C's (server/call.c): begin says
 * what is to happen; where it says run, the tool runs; end writes the journal,
 * in the transaction of the tool's effect.
 *
 *      begin  no lock is taken, for a tool may run long
 *      end    one UPDATE of the execution's row: whoever was displaced, or
 *             cancelled, finds it changed, fails, and takes its effect back
 *
 * The verdicts of begin:
 *
 *      lost        the token no longer holds
 *      cancelled   a cancel was requested
 *      recorded    an earlier attempt made this call: give outcome and value
 *      pending     ... and it waits for its answer
 *      diverged    ... but the journal has another one there; value says so
 *      limit       too many calls: give outcome and value, journal nothing
 *      answer      give outcome and value, journal record, or value where null
 *      run         run the function
 *      approve     see that the function could be run, and pause, or give what is wrong
 *      pause       journal the call as pending, with this pause
 *      sleep       wait for wait_ms, and ask again
 *
 * Where approved is true the journal has the call, and somebody let it be made:
 * answer and run are the end of that row, not a new one.
 */

/*
 * The usual call: of a function, which nothing stands in the way of; of kind tool,
 * with arguments that _check_call has nothing against (server/call_rows.c).  One query,
 * planned once, with everything inlined, since each call pays for it.  No row:
 * _call_begin tells what it is then.
 */
CREATE FUNCTION sandbox_exec._call_runs(id uuid, token uuid, seq integer, name text)
RETURNS TABLE (function text, trusted boolean, submitter oid, owner text, org_id text, thread_id text,
               lease_expires_at timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1
BEGIN ATOMIC
    SELECT t.function, t.trusted, e.submitter::oid, e.owner, e.org_id, e.thread_id, e.lease_expires_at
    FROM sandbox_exec.execution e
         JOIN sandbox_exec.execution_input i ON i.id = e.id
         JOIN sandbox_exec.tool t ON t.name = _call_runs.name
    WHERE e.id = _call_runs.id AND e.status = 'running' AND e.claim_token = token AND e.cancel_requested_at IS NULL
          AND e.call_count + 1 = _call_runs.seq AND NOT sandbox_exec._called_enough(e.call_count, e.journal_size)
          AND t.function IS NOT NULL AND t.name <> 'executions.wait' AND NOT t.requires_approval
          AND sandbox_exec._is_granted(t.name, i.tools)
          AND NOT EXISTS (SELECT FROM sandbox_exec._restricting(t.name, e.owner));
END;

CREATE FUNCTION sandbox_exec._call_begin(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, by_worker boolean, slept boolean,
    OUT verdict text, OUT outcome text, OUT value jsonb, OUT record jsonb, OUT at timestamptz,
    OUT delivered_no integer, OUT approved boolean, OUT pause jsonb, OUT wait_ms integer,
    OUT function text, OUT function_oid oid, OUT trusted boolean, OUT submitter regrole,
    OUT owner text, OUT org_id text, OUT thread_id text, OUT lease_expires_at timestamptz)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    e sandbox_exec.execution;
    c sandbox_exec.call;
BEGIN
    PERFORM sandbox_exec._check_call(id, token, seq, kind, name, args);
    SELECT * INTO e FROM sandbox_exec.execution x
    WHERE x.id = _call_begin.id AND x.status = 'running' AND x.claim_token = token;
    IF NOT FOUND THEN
        verdict := 'lost';
        RETURN;
    ELSIF e.cancel_requested_at IS NOT NULL THEN
        IF NOT by_worker THEN
            PERFORM sandbox_exec._release(id, token);   -- as append does
        END IF;
        verdict := 'cancelled';
        RETURN;
    END IF;

    approved := seq BETWEEN 1 AND e.call_count;
    IF approved THEN
        SELECT * INTO c FROM sandbox_exec.call x WHERE x.execution_id = _call_begin.id AND x.seq = _call_begin.seq;
        IF (c.kind, c.name, c.args) IS DISTINCT FROM (kind, name, args) THEN
            verdict := 'diverged';
            value := to_jsonb(format('call %s differs from the one that an earlier attempt made: %s then, %s now', seq,
                                     sandbox_exec._call_text(c.kind, c.name, c.args),
                                     sandbox_exec._call_text(kind, name, args)));
            RETURN;
        ELSIF c.outcome <> 'pending' THEN
            verdict := 'recorded';
            outcome := c.outcome;
            value := sandbox_exec._recorded_value(c.kind, c.name, c.outcome, c.value);
            at := c.created_at;
            delivered_no := c.delivered_no;
            RETURN;
        ELSIF c.delivered_no IS NULL THEN
            verdict := 'pending';
            RETURN;
        END IF;
    ELSIF sandbox_exec._called_enough(e.call_count, e.journal_size) THEN
        verdict := 'limit';
        outcome := 'error';
        value := sandbox_exec._call_error('too_many_calls', 'this execution has made too many calls', name,
            format('It has made %s calls, and their arguments and results have %s bytes; the limits are 1000 and 33554432.',
                   e.call_count, e.journal_size),
            'Do more in one call, or in another execution.');
        RETURN;
    ELSIF seq <> e.call_count + 1 THEN
        RAISE EXCEPTION 'seq is out of order' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s; the journal has %s calls.', seq, e.call_count),
            HINT = 'Number the calls of the code from 1 in the order in which it makes them.';
    END IF;

    IF kind = 'module' THEN
        verdict := 'answer';
        SELECT 'ok', m.value, m.record INTO outcome, value, record FROM sandbox_exec._require(name) m;
        IF NOT FOUND THEN
            outcome := 'error';
            value := sandbox_exec._call_error('module_not_found', format('module "%s" does not exist', name), NULL,
                'No module of that name is registered.', NULL);
        END IF;
        RETURN;
    ELSIF kind IN ('tool', 'child') THEN
        SELECT * INTO verdict, value, pause, function, function_oid, trusted
        FROM sandbox_exec._call_tool(e, name, args, approved);
        outcome := CASE verdict WHEN 'answer' THEN 'error' END;
    END IF;
    IF verdict IS NULL THEN
        SELECT * INTO verdict, outcome, value, pause, wait_ms FROM sandbox_exec._pause_for(e, kind, args, slept);
    END IF;
    IF verdict IN ('run', 'approve') THEN
        submitter := e.submitter;
        owner := e.owner;
        org_id := e.org_id;
        thread_id := e.thread_id;
        lease_expires_at := e.lease_expires_at;
    END IF;
    IF pause IS NOT NULL AND e.open_pauses >= 100 THEN
        verdict := 'answer';
        outcome := 'error';
        value := sandbox_exec._call_error('too_many_pauses', 'this execution waits for too many answers',
            CASE kind WHEN 'tool' THEN name END,
            'It waits for 100, which is the limit.', 'Wait for some of them before making more such calls.');
        pause := NULL;
    END IF;
END
$$;
