/*
 * The end of a call: the journal and the log, under the execution's row lock.
 *
 * SX001, SX002 and SX004 are for server/call.c alone: the token no longer holds,
 * a cancel was requested, the same executor made the call by another session.
 * What the tool did is rolled back with the transaction.
 */
-- why the end of a call found no execution to write to
CREATE FUNCTION sandbox_exec._call_refused(id uuid, token uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    cancelled boolean;
BEGIN
    SELECT e.cancel_requested_at IS NOT NULL INTO cancelled FROM sandbox_exec.execution e
    WHERE e.id = _call_refused.id AND e.status = 'running' AND e.claim_token = token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the claim of the execution no longer holds' USING ERRCODE = 'SX001';
    ELSIF cancelled THEN
        RAISE EXCEPTION 'a cancel of the execution was requested' USING ERRCODE = 'SX002';
    END IF;
    RAISE EXCEPTION 'the call was made by another session' USING ERRCODE = 'SX004';
END
$$;

-- No settings, and one statement: each would cost as much as the tool.  The
-- caller has a safe search_path, and plans by indexes.
CREATE FUNCTION sandbox_exec._call_end(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
    events jsonb, by_worker boolean)
RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    args_size CONSTANT integer := coalesce(octet_length(args::text), 0);
    value_size CONSTANT integer := coalesce(octet_length(value::text), 0);
    event_count integer := 0;
    event_size integer := 0;
    done record;
BEGIN
    IF events IS NOT NULL THEN
        PERFORM sandbox_exec._check_events(events, by_worker);
        event_count := jsonb_array_length(events);
        event_size := CASE WHEN event_count = 0 THEN 0 ELSE octet_length(events::text) END;
    END IF;
    -- the time is taken after the wait for the lock.  The journal has everything,
    -- the log is for reading along
    WITH held AS (
        UPDATE sandbox_exec.execution e
        SET log_pos = e.log_pos + event_count + 2,
            log_size = e.log_size + event_size + least(args_size, 8192) + least(value_size, 8192) + 200,
            call_count = e.call_count + 1, delivered_count = e.delivered_count + 1,
            journal_size = e.journal_size + length(name) + args_size + value_size, known_started = true
        WHERE e.id = _call_end.id AND e.status = 'running' AND e.claim_token = token
              AND e.cancel_requested_at IS NULL AND e.call_count = seq - 1
        RETURNING e.log_pos, e.delivered_count, e.log_size <= 4194304 AS room, clock_timestamp() AS now
    ), journaled AS (
        INSERT INTO sandbox_exec.call (execution_id, seq, delivered_no, created_at, kind, name, outcome, args, value)
        SELECT _call_end.id, _call_end.seq, h.delivered_count, h.now, _call_end.kind, _call_end.name, _call_end.outcome,
               _call_end.args, _call_end.value
        FROM held h
    ), logged AS (
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT _call_end.id, h.log_pos - 1, h.now, 'call',
               CASE WHEN h.room AND args_size <= 8192
                    THEN jsonb_build_object('seq', seq, 'kind', kind, 'name', name, 'args', args)
                    ELSE jsonb_build_object('seq', seq, 'kind', kind, 'name', name, 'args', NULL, 'omitted', true) END
        FROM held h
        UNION ALL
        SELECT _call_end.id, h.log_pos, h.now, 'returned',
               CASE WHEN h.room AND value_size <= 8192
                    THEN jsonb_build_object('seq', seq, 'outcome', outcome, 'value', value)
                    ELSE jsonb_build_object('seq', seq, 'outcome', outcome, 'value', NULL, 'omitted', true) END
        FROM held h
    )
    SELECT h.now, h.log_pos - 2 - event_count AS before, h.room INTO done FROM held h;
    IF NOT FOUND THEN
        PERFORM sandbox_exec._call_refused(id, token);
    ELSIF event_count > 0 THEN
        IF NOT by_worker AND NOT done.room THEN
            RAISE EXCEPTION 'the log of the execution is full' USING ERRCODE = 'program_limit_exceeded',
                DETAIL = format('These events have %s bytes; the limit of a log is 4194304.', event_size),
                HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
        END IF;
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT _call_end.id, done.before + x.place, done.now, x.event ->> 'type', x.event -> 'data'
        FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place);
    END IF;
    RETURN done.now;
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
