/*
 * A call, seen from its rows.  The sequence is C's (server/call.c): begin says
 * what is to happen; where it says run, the tool runs; end writes the journal,
 * in the transaction of the tool's effect.
 *
 *      begin  no lock is taken, for a tool may run long
 *      end    one UPDATE of the execution's row: whoever was displaced, or
 *             cancelled, finds it changed, fails, and takes its effect back
 *
 * What is to happen is decided in one place, _call_state(): one query, which is
 * planned once and which every call pays.  _call_begin() says the same of a call
 * that is not simply run, with what the code gets instead.
 *
 * The verdicts of begin:
 *
 *      lost        the token no longer holds
 *      cancelled   a cancel was requested
 *      recorded    an earlier attempt made this call: give outcome and value
 *      diverged    ... but the journal has another one there; value says so
 *      limit       too many calls: give outcome and value, journal nothing
 *      answer      give outcome and value, journal record, or value where null
 *      run         run the function
 */
CREATE FUNCTION sandbox_exec._call_state(id uuid, token uuid, seq integer, kind text, name text, args jsonb)
RETURNS TABLE (state text, function text, trusted boolean, submitter oid, owner text, org_id text, thread_id text,
               lease_expires_at timestamptz, call_count integer, journal_size integer)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1
BEGIN ATOMIC
    SELECT CASE WHEN sandbox_exec._is_call(_call_state.seq, _call_state.kind, _call_state.name, _call_state.args) IS NOT TRUE THEN 'unsound'
                WHEN e.cancel_requested_at IS NOT NULL THEN 'cancelled'
                WHEN _call_state.seq BETWEEN 1 AND e.call_count THEN 'made'
                WHEN e.call_count >= 1000 OR e.journal_size > 33554432 THEN 'limit'
                WHEN _call_state.seq <> e.call_count + 1 THEN 'order'
                WHEN _call_state.kind = 'module' THEN 'module'
                WHEN t.function IS NULL OR NOT sandbox_exec._is_granted(_call_state.name, i.tools) THEN 'not_found'
                WHEN EXISTS (SELECT FROM sandbox_exec._blocking(_call_state.name, e.owner)) THEN 'blocked'
                ELSE 'run' END,
           t.function, t.trusted, e.submitter::oid, e.owner, e.org_id, e.thread_id,
           e.lease_expires_at, e.call_count, e.journal_size
    FROM sandbox_exec.execution e
         JOIN sandbox_exec.execution_input i ON i.id = e.id
         LEFT JOIN sandbox_exec.tool t ON t.name = _call_state.name
    WHERE e.id = _call_state.id AND e.status = 'running' AND e.claim_token = token;
END;

CREATE FUNCTION sandbox_exec._call_begin(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, by_worker boolean,
    OUT verdict text, OUT outcome text, OUT value jsonb, OUT record jsonb, OUT at timestamptz,
    OUT function text, OUT function_oid oid, OUT trusted boolean, OUT submitter regrole,
    OUT owner text, OUT org_id text, OUT thread_id text, OUT lease_expires_at timestamptz)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    s record;
    c sandbox_exec.call;
BEGIN
    PERFORM sandbox_exec._check_call(id, token, seq, kind, name, args);
    SELECT * INTO s FROM sandbox_exec._call_state(id, token, seq, kind, name, args);
    IF NOT FOUND THEN
        verdict := 'lost';
        RETURN;
    ELSIF s.state = 'cancelled' THEN
        IF NOT by_worker THEN
            PERFORM sandbox_exec._release(id, token);   -- as append does
        END IF;
        verdict := 'cancelled';
        RETURN;
    ELSIF s.state = 'made' THEN
        SELECT * INTO c FROM sandbox_exec.call x WHERE x.execution_id = _call_begin.id AND x.seq = _call_begin.seq;
        IF (c.kind, c.name, c.args) IS NOT DISTINCT FROM (kind, name, args) THEN
            verdict := 'recorded';
            outcome := c.outcome;
            value := sandbox_exec._recorded_value(c.kind, c.name, c.outcome, c.value);
            at := c.created_at;
        ELSE
            verdict := 'diverged';
            value := to_jsonb(format('call %s differs from the one that an earlier attempt made: %s then, %s now', seq,
                                     sandbox_exec._call_text(c.kind, c.name, c.args),
                                     sandbox_exec._call_text(kind, name, args)));
        END IF;
        RETURN;
    END IF;

    outcome := 'error';
    IF s.state = 'limit' THEN
        verdict := 'limit';
        value := sandbox_exec._call_error('too_many_calls', 'this execution has made too many calls', name,
            format('It has made %s calls, and their arguments and results have %s bytes; the limits are 1000 and 33554432.',
                   s.call_count, s.journal_size),
            'Do more in one call, or in another execution.');
        RETURN;
    ELSIF s.state = 'order' THEN
        RAISE EXCEPTION 'seq is out of order' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s; the journal has %s calls.', seq, s.call_count),
            HINT = 'Number the calls of the code from 1 in the order in which it makes them.';
    END IF;

    verdict := 'answer';
    IF s.state = 'module' THEN
        SELECT 'ok', m.value, m.record INTO outcome, value, record FROM sandbox_exec._require(name) m;
        IF NOT FOUND THEN
            outcome := 'error';
            value := sandbox_exec._call_error('module_not_found', format('module "%s" does not exist', name), NULL,
                'No module of that name is registered.', NULL);
        END IF;
    ELSIF s.state = 'not_found' THEN
        value := sandbox_exec._tool_not_found(id, name);
    ELSIF s.state = 'blocked' THEN
        value := sandbox_exec._call_error('tool_blocked', format('tool "%s" is blocked', name), name,
            'A policy of this database forbids it.', 'Do without, or ask an administrator.');
    ELSIF NOT EXISTS (SELECT FROM pg_authid r WHERE r.oid = s.submitter) THEN
        value := sandbox_exec._call_error('submitter_dropped', 'the role that submitted this execution no longer exists', name,
            NULL, NULL);
    ELSIF sandbox_exec._resolve(s.function) IS NULL THEN
        value := sandbox_exec._call_error('tool_not_found', format('the function of tool "%s" no longer exists', name), name,
            format('It was %s.', s.function), NULL);
    ELSE
        verdict := 'run';
        outcome := NULL;
        function := s.function;
        function_oid := sandbox_exec._resolve(function);
        trusted := s.trusted;
        submitter := s.submitter;
        owner := s.owner;
        org_id := s.org_id;
        thread_id := s.thread_id;
        lease_expires_at := s.lease_expires_at;
    END IF;
END
$$;
