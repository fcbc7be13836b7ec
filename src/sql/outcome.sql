/*
 * What finalize accepts, with the words for what it doesn't.
 */
CREATE FUNCTION sandbox_exec._check_outcomes(outcomes jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF outcomes IS NULL THEN
        RAISE EXCEPTION 'outcomes must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give a JSON array of objects.';
    ELSIF jsonb_typeof(outcomes) <> 'array' THEN
        RAISE EXCEPTION 'outcomes must be a JSON array' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is of JSON type %s.', jsonb_typeof(outcomes)),
            HINT = 'Give a JSON array of objects.';
    ELSIF jsonb_array_length(outcomes) > 1000 THEN
        RAISE EXCEPTION 'too many outcomes' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('There are %s; the limit is 1000.', jsonb_array_length(outcomes)),
            HINT = 'Give them in several calls.';
    END IF;
END
$$;

-- the outcomes, if no key of theirs is misspelled; workers spell well
CREATE FUNCTION sandbox_exec._well_spelled(outcomes jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT text[] := '{id,token,status,result,exit_code,error,error_code,events,runtime_version}';
    bad record;
BEGIN
    SELECT o.place - 1 AS index, k.key INTO bad
    FROM jsonb_array_elements(CASE jsonb_typeof(outcomes) WHEN 'array' THEN outcomes END) WITH ORDINALITY o(outcome, place)
         CROSS JOIN LATERAL jsonb_object_keys(CASE jsonb_typeof(o.outcome) WHEN 'object' THEN o.outcome END) k(key)
    WHERE k.key <> ALL (allowed)
    ORDER BY o.place LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'unknown key "%" in an outcome', bad.key USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('outcomes[%s] has it.', bad.index),
            HINT = format('Allowed are %s.', array_to_string(allowed, ', '));
    END IF;
    RETURN outcomes;
END
$$;

-- data of stdout and stderr
CREATE FUNCTION sandbox_exec._is_text(data jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_typeof(data -> 'text') = 'string'
       AND coalesce(jsonb_typeof(data -> 'truncated') = 'boolean', true);

-- workers write retry events, too, and have a bound of their own
CREATE FUNCTION sandbox_exec._check_events(events jsonb, by_worker boolean) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    bad bigint;
BEGIN
    IF events IS NULL THEN
        RETURN;
    ELSIF jsonb_typeof(events) <> 'array' THEN
        RAISE EXCEPTION 'events must be a JSON array' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is of JSON type %s.', jsonb_typeof(events)),
            HINT = 'Give a JSON array of {"type", "data"}.';
    ELSIF by_worker THEN
        RETURN;
    ELSIF jsonb_array_length(events) > 1000 THEN
        RAISE EXCEPTION 'too many events' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('There are %s; the limit is 1000.', jsonb_array_length(events)),
            HINT = 'Put more output into one event.';
    ELSIF octet_length(events::text) > 4194304 THEN
        RAISE EXCEPTION 'events are too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('They have %s bytes as text; the limit is 4194304.', octet_length(events::text)),
            HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
    END IF;
    SELECT x.place - 1 INTO bad
    FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place)
    WHERE (CASE x.event ->> 'type'
               WHEN 'custom' THEN x.event ? 'data'
               WHEN 'stdout' THEN sandbox_exec._is_text(x.event -> 'data')
               WHEN 'stderr' THEN sandbox_exec._is_text(x.event -> 'data') END) IS NOT TRUE
    ORDER BY x.place LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'an event is malformed' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is events[%s].', bad),
            HINT = 'Give {"type": "stdout" or "stderr", "data": {"text": "...", "truncated": false}} or {"type": "custom", "data": ...}.';
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._check_outcome(
    index bigint, id uuid, token uuid, status text, result jsonb, error text, error_code text,
    events jsonb, runtime_version text, by_worker boolean)
RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name CONSTANT text := CASE WHEN id IS NULL THEN 'id' WHEN token IS NULL THEN 'token'
                               WHEN status IS NULL THEN 'status' END;
BEGIN
    IF name IS NOT NULL THEN
        RAISE EXCEPTION '% must not be null', name USING ERRCODE = 'null_value_not_allowed',
            DETAIL = format('outcomes[%s] lacks it.', index),
            HINT = 'Give id and claim_token as claim() returned them, and a status.';
    ELSIF status NOT IN ('succeeded', 'failed', 'timed_out') THEN
        RAISE EXCEPTION 'an execution cannot be finalized as "%"', status
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('outcomes[%s] has this status.', index),
                  HINT = 'Give succeeded, failed or timed_out.';
    ELSIF status = 'succeeded' AND (error IS NOT NULL OR error_code IS NOT NULL) THEN
        RAISE EXCEPTION 'an execution that succeeded has no error' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('outcomes[%s] has one.', index),
            HINT = 'Give error and error_code with failed or timed_out.';
    ELSIF status <> 'succeeded' AND result IS NOT NULL THEN
        RAISE EXCEPTION 'an execution that did not succeed has no result' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('outcomes[%s] has one.', index),
            HINT = 'Say what went wrong in error and error_code.';
    ELSIF octet_length(error_code) NOT BETWEEN 1 AND 63 THEN
        RAISE EXCEPTION 'error_code is empty or too long' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('That of outcomes[%s] has %s bytes.', index, octet_length(error_code)),
            HINT = 'Give 1 to 63 bytes.';
    ELSIF octet_length(result::text) > 1048576 OR octet_length(error) > 65536
          OR NOT by_worker AND octet_length(events::text) > 4194304 OR length(runtime_version) > 255 THEN
        RAISE EXCEPTION 'an outcome is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('outcomes[%s] has a result of %s bytes as text, an error of %s, events of %s.', index,
                            coalesce(octet_length(result::text), 0), coalesce(octet_length(error), 0),
                            coalesce(octet_length(events::text), 0)),
            HINT = 'The limits are 1048576, 65536 and 4194304 bytes, and 255 characters of runtime_version.';
    END IF;
    PERFORM sandbox_exec._check_events(events, by_worker);
    RETURN true;
END
$$;
