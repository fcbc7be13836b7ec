/*
 * The end of a call: the journal and the log, under the execution's row lock.
 *
 * SX001, SX002 and SX004 are for server/call.c alone: the token no longer holds,
 * a cancel was requested, the same executor made the call by another session.
 * What the tool did is rolled back with the transaction.
 */
-- the journal has everything; the log is for reading along.  Stable as what is
-- in it, or it would not be inlined
CREATE FUNCTION sandbox_exec._call_events(
    seq integer, kind text, name text, args jsonb, outcome text, value jsonb, show_args boolean, show_value boolean)
RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_array(
    jsonb_build_object('type', 'call', 'data',
        jsonb_build_object('seq', seq, 'kind', kind, 'name', name)
        || CASE WHEN show_args THEN jsonb_build_object('args', args) ELSE '{"args": null, "omitted": true}' END),
    jsonb_build_object('type', 'returned', 'data',
        jsonb_build_object('seq', seq, 'outcome', outcome)
        || CASE WHEN show_value THEN jsonb_build_object('value', value) ELSE '{"value": null, "omitted": true}' END));

CREATE FUNCTION sandbox_exec._call_end(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
    events jsonb, by_worker boolean)
RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    args_size CONSTANT integer := coalesce(octet_length(args::text), 0);
    value_size CONSTANT integer := coalesce(octet_length(value::text), 0);
    now timestamptz;
    held record;
BEGIN
    PERFORM sandbox_exec._check_events(events, by_worker);
    events := coalesce(events, '[]');
    UPDATE sandbox_exec.execution e
    SET log_pos = e.log_pos + jsonb_array_length(events) + 2,
        log_size = e.log_size + CASE WHEN events = '[]' THEN 0 ELSE octet_length(events::text) END
                   + least(args_size, 8192) + least(value_size, 8192) + 200,
        call_count = e.call_count + 1, delivered_count = e.delivered_count + 1,
        journal_size = e.journal_size + length(name) + args_size + value_size, known_started = true
    WHERE e.id = _call_end.id AND e.status = 'running' AND e.claim_token = token
          AND e.cancel_requested_at IS NULL AND e.call_count = seq - 1
    RETURNING e.log_pos - jsonb_array_length(events) - 2 AS before, e.delivered_count, e.log_size <= 4194304 AS room
    INTO held;
    IF NOT FOUND THEN
        SELECT e.cancel_requested_at IS NOT NULL AS cancelled INTO held FROM sandbox_exec.execution e
        WHERE e.id = _call_end.id AND e.status = 'running' AND e.claim_token = token;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the claim of the execution no longer holds' USING ERRCODE = 'SX001';
        ELSIF held.cancelled THEN
            RAISE EXCEPTION 'a cancel of the execution was requested' USING ERRCODE = 'SX002';
        END IF;
        RAISE EXCEPTION 'the call was made by another session' USING ERRCODE = 'SX004';
    ELSIF NOT by_worker AND NOT held.room AND events <> '[]' THEN
        RAISE EXCEPTION 'the log of the execution is full' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('These events have %s bytes; the limit of a log is 4194304.', octet_length(events::text)),
            HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
    END IF;

    now := clock_timestamp();   -- after the wait for the lock
    INSERT INTO sandbox_exec.call (execution_id, seq, delivered_no, created_at, kind, name, outcome, args, value)
    VALUES (id, seq, held.delivered_count, now, kind, name, outcome, args, value);
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    SELECT id, held.before + x.place, now, x.event ->> 'type', x.event -> 'data'
    FROM jsonb_array_elements(
             events || sandbox_exec._call_events(seq, kind, name, args, outcome, value,
                                                 held.room AND args_size <= 8192, held.room AND value_size <= 8192))
         WITH ORDINALITY x(event, place);
    PERFORM sandbox_exec._wake(id);
    RETURN now;
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
