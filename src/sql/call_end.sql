/*
 * The end of a call, which may be a pause: the journal and the log, under the
 * execution's row lock.
 *
 * SX001, SX002 and SX004 are for server/call.c alone: the token no longer holds,
 * a cancel was requested, the same executor made the call by another session.
 * What the tool did is rolled back with the transaction.
 */
-- the journal has everything; the log is for reading along.  Stable as what is
-- in it, or it would not be inlined
CREATE FUNCTION sandbox_exec._call_event(seq integer, kind text, name text, args jsonb, show boolean) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object('type', 'call', 'data',
    jsonb_build_object('seq', seq, 'kind', kind, 'name', name)
    || CASE WHEN show THEN jsonb_build_object('args', args) ELSE '{"args": null, "omitted": true}' END);

CREATE FUNCTION sandbox_exec._returned_event(seq integer, outcome text, value jsonb, show boolean) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object('type', 'returned', 'data',
    jsonb_build_object('seq', seq, 'outcome', outcome)
    || CASE WHEN show THEN jsonb_build_object('value', value) ELSE '{"value": null, "omitted": true}' END);

-- why an executor found no row that it may change
CREATE FUNCTION sandbox_exec._call_displaced(id uuid, token uuid) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    cancelled boolean;
BEGIN
    SELECT e.cancel_requested_at IS NOT NULL INTO cancelled FROM sandbox_exec.execution e
    WHERE e.id = _call_displaced.id AND e.status = 'running' AND e.claim_token = token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the claim of the execution no longer holds' USING ERRCODE = 'SX001';
    ELSIF cancelled THEN
        RAISE EXCEPTION 'a cancel of the execution was requested' USING ERRCODE = 'SX002';
    END IF;
    RAISE EXCEPTION 'the call was made by another session' USING ERRCODE = 'SX004';
END
$$;

CREATE FUNCTION sandbox_exec._call_log_full(events jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'the log of the execution is full' USING ERRCODE = 'program_limit_exceeded',
        DETAIL = format('These events have %s bytes; the limit of a log is 4194304.', octet_length(events::text)),
        HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
END
$$;

-- a call that wasn't made before: over, or pending with its pause
CREATE FUNCTION sandbox_exec._call_end(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
    pause jsonb, events jsonb, by_worker boolean, OUT at timestamptz, OUT delivered_no integer)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    args_size CONSTANT integer := coalesce(octet_length(args::text), 0);
    value_size CONSTANT integer := coalesce(octet_length(value::text), 0);
    over CONSTANT integer := (pause IS NULL)::integer;      -- else it is pending
    held record;
BEGIN
    PERFORM sandbox_exec._check_events(events, by_worker);
    events := coalesce(events, '[]');
    UPDATE sandbox_exec.execution e
    SET log_pos = e.log_pos + jsonb_array_length(events) + 1 + over,
        log_size = e.log_size + CASE WHEN events = '[]' THEN 0 ELSE octet_length(events::text) END
                   + least(args_size, 8192) + least(value_size, 8192) + 200,
        call_count = e.call_count + 1, delivered_count = e.delivered_count + over,
        open_pauses = e.open_pauses + 1 - over,
        journal_size = e.journal_size + length(name) + args_size + value_size, known_started = true
    WHERE e.id = _call_end.id AND e.status = 'running' AND e.claim_token = token
          AND e.cancel_requested_at IS NULL AND e.call_count = seq - 1
    RETURNING e.log_pos - jsonb_array_length(events) - 1 - over AS before, e.delivered_count,
              e.log_size <= 4194304 AS room, e.submitter, e.owner
    INTO held;
    IF NOT FOUND THEN
        PERFORM sandbox_exec._call_displaced(id, token);
    ELSIF NOT by_worker AND NOT held.room AND events <> '[]' THEN
        PERFORM sandbox_exec._call_log_full(events);
    END IF;

    at := clock_timestamp();    -- after the wait for the lock
    delivered_no := CASE over WHEN 1 THEN held.delivered_count END;
    INSERT INTO sandbox_exec.call (execution_id, seq, delivered_no, created_at, kind, name, outcome, args, value)
    VALUES (id, seq, delivered_no, at, kind, name, outcome, args, value);
    events := events || sandbox_exec._call_event(seq, kind, name, args, held.room AND args_size <= 8192);
    IF over = 1 THEN
        events := events || sandbox_exec._returned_event(seq, outcome, value, held.room AND value_size <= 8192);
    ELSE
        PERFORM sandbox_exec._open_pause(id, seq, name, pause, held.submitter, held.owner, at);
    END IF;
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    SELECT id, held.before + x.place, _call_end.at, x.event ->> 'type', x.event -> 'data'
    FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place);
    PERFORM sandbox_exec._wake(id);
END
$$;

-- a call that was approved: it has its place in the journal, and got its number
-- when the approval was delivered
CREATE FUNCTION sandbox_exec._call_complete(
    id uuid, token uuid, seq integer, outcome text, value jsonb, events jsonb, by_worker boolean,
    OUT at timestamptz, OUT delivered_no integer)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    value_size CONSTANT integer := coalesce(octet_length(value::text), 0);
    held record;
BEGIN
    PERFORM sandbox_exec._check_events(events, by_worker);
    events := coalesce(events, '[]');
    UPDATE sandbox_exec.execution e
    SET log_pos = e.log_pos + jsonb_array_length(events) + 1,
        log_size = e.log_size + octet_length(events::text) + least(value_size, 8192) + 100,
        journal_size = e.journal_size + value_size, known_started = true
    WHERE e.id = _call_complete.id AND e.status = 'running' AND e.claim_token = token AND e.cancel_requested_at IS NULL
    RETURNING e.log_pos - jsonb_array_length(events) - 1 AS before, e.log_size <= 4194304 AS room
    INTO held;
    IF NOT FOUND THEN
        PERFORM sandbox_exec._call_displaced(id, token);
    ELSIF NOT by_worker AND NOT held.room AND events <> '[]' THEN
        PERFORM sandbox_exec._call_log_full(events);
    END IF;
    UPDATE sandbox_exec.call c
    SET outcome = _call_complete.outcome, value = _call_complete.value, created_at = clock_timestamp()
    WHERE c.execution_id = _call_complete.id AND c.seq = _call_complete.seq AND c.outcome = 'pending'
    RETURNING c.created_at, c.delivered_no INTO at, delivered_no;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the call was made by another session' USING ERRCODE = 'SX004';
    END IF;
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    SELECT id, held.before + x.place, _call_complete.at, x.event ->> 'type', x.event -> 'data'
    FROM jsonb_array_elements(
             events || sandbox_exec._returned_event(seq, outcome, value, held.room AND value_size <= 8192))
         WITH ORDINALITY x(event, place);
    PERFORM sandbox_exec._wake(id);
END
$$;

-- code that doesn't do again what it did cannot be continued
CREATE FUNCTION sandbox_exec._call_diverged(id uuid, token uuid, message text, events jsonb) RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sandbox_exec._finalize(id, token, 'failed', NULL, NULL, message, 'nondeterministic', events);
END
$$;
