/*
 * The end of a call, which may be a pause: the journal and the log, under the
 * execution's row lock.
 *
 * SX001, SX002 and SX004 are for server/call.c alone: the token no longer holds,
 * a cancel was requested, the same executor made the call by another session.
 * What the tool did is rolled back with the transaction.
 */
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

/*
 * A call that wasn't made before: over, or pending with its pause.  No settings,
 * and two statements where there is neither output nor a pause: each would cost as
 * much as the tool.  The caller has a safe search_path, plans by indexes, and
 * wakes the readers of the log.
 */
CREATE FUNCTION sandbox_exec._call_end(
    id uuid, token uuid, seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
    pause jsonb, events jsonb, by_worker boolean, OUT at timestamptz, OUT delivered_no integer)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    args_size CONSTANT integer := coalesce(octet_length(args::text), 0);
    value_size CONSTANT integer := coalesce(octet_length(value::text), 0);
    over CONSTANT integer := (pause IS NULL)::integer;      -- else it is pending
    event_count integer := 0;
    event_size integer := 0;
    done record;
BEGIN
    IF events IS NOT NULL THEN
        PERFORM sandbox_exec._check_events(events, by_worker);
        event_count := jsonb_array_length(events);
        event_size := CASE event_count WHEN 0 THEN 0 ELSE octet_length(events::text) END;
    END IF;
    -- the time is taken after the wait for the lock
    UPDATE sandbox_exec.execution e
    SET log_pos = e.log_pos + event_count + 1 + over,
        log_size = e.log_size + event_size + least(args_size, 8192) + least(value_size, 8192) + 200,
        call_count = e.call_count + 1, delivered_count = e.delivered_count + over,
        open_pauses = e.open_pauses + 1 - over,
        journal_size = e.journal_size + length(name) + args_size + value_size, known_started = true
    WHERE e.id = _call_end.id AND e.status = 'running' AND e.claim_token = token
          AND e.cancel_requested_at IS NULL AND e.call_count = seq - 1
    RETURNING e.log_pos - over AS pos, CASE over WHEN 1 THEN e.delivered_count END AS delivered_no,
              e.log_size <= 4194304 AS room, e.submitter, e.owner, clock_timestamp() AS now
    INTO done;
    IF NOT FOUND THEN
        PERFORM sandbox_exec._call_displaced(id, token);
    END IF;
    INSERT INTO sandbox_exec.call (execution_id, seq, delivered_no, created_at, pos, brief, kind, name, outcome, args, value)
    VALUES (id, seq, done.delivered_no, done.now, CASE over WHEN 1 THEN done.pos END, NOT done.room,
            kind, name, outcome, args, value);
    IF event_count > 0 THEN
        IF NOT by_worker AND NOT done.room THEN
            PERFORM sandbox_exec._call_log_full(events);
        END IF;
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT _call_end.id, done.pos - 1 - event_count + x.place, done.now, x.event ->> 'type', x.event -> 'data'
        FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place);
    END IF;
    IF over = 0 THEN
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        VALUES (id, done.pos, done.now, 'call',
                sandbox_exec._call_data(seq, kind, name, args, done.room AND args_size <= 8192));
        PERFORM sandbox_exec._open_pause(id, seq, name, pause, done.submitter, done.owner, done.now);
    END IF;
    at := done.now;
    delivered_no := done.delivered_no;
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
