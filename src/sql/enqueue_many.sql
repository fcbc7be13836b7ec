/*
 * enqueue_many: an array of objects whose keys are enqueue's parameters.
 *
 * _request gives keys and types their one definition; jsonb_populate_record
 * converts by it, and _enqueue has the rules.
 */
CREATE TYPE sandbox_exec._request AS (
    code text, args jsonb, owner text, org_id text, thread_id text, tools text[],
    timeout interval, max_output_chars integer, memory_limit_kb integer, max_attempts integer,
    priority integer, run_at timestamptz, idempotency_key text, runtime text
);

-- the shape of the array: an error names the first element that is wrong
CREATE FUNCTION sandbox_exec._check_requests(requests jsonb) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bad record;
BEGIN
    IF requests IS NULL THEN
        RAISE EXCEPTION 'requests must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give a JSON array of objects.';
    ELSIF jsonb_typeof(requests) <> 'array' THEN
        RAISE EXCEPTION 'requests must be a JSON array' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is of JSON type %s.', jsonb_typeof(requests)),
            HINT = 'Give a JSON array of objects.';
    ELSIF jsonb_array_length(requests) > 10000 THEN
        RAISE EXCEPTION 'too many requests' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('There are %s; the limit is 10000.', jsonb_array_length(requests)),
            HINT = 'Give them in several calls.';
    END IF;

    SELECT r.place - 1 AS index, jsonb_typeof(r.request) AS kind INTO bad
    FROM jsonb_array_elements(requests) WITH ORDINALITY r(request, place)
    WHERE jsonb_typeof(r.request) <> 'object' ORDER BY r.place LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'a request must be a JSON object' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('requests[%s] is of JSON type %s.', bad.index, bad.kind),
            HINT = 'Give objects whose keys are the parameters of enqueue().';
    END IF;

    SELECT r.place - 1 AS index, m.key, jsonb_typeof(m.value) AS kind, a.attname IS NOT NULL AS known INTO bad
    FROM jsonb_array_elements(requests) WITH ORDINALITY r(request, place)
         CROSS JOIN LATERAL jsonb_each(r.request) m
         LEFT JOIN pg_attribute a ON a.attrelid = 'sandbox_exec._request'::regclass
                                     AND a.attnum > 0 AND a.attname = m.key
    WHERE a.attname IS NULL
          OR a.atttypid = 'text'::regtype AND jsonb_typeof(m.value) NOT IN ('string', 'null')
    ORDER BY r.place LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    ELSIF bad.known THEN
        RAISE EXCEPTION '% must be a JSON string', bad.key USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('requests[%s] has it as JSON type %s.', bad.index, bad.kind),
            HINT = 'Give objects whose keys are the parameters of enqueue().';
    END IF;
    RAISE EXCEPTION 'unknown key "%" in a request', bad.key USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('requests[%s] has it.', bad.index),
        HINT = (SELECT format('Allowed are %s.', string_agg(a.attname, ', ' ORDER BY a.attnum))
                FROM pg_attribute a WHERE a.attrelid = 'sandbox_exec._request'::regclass AND a.attnum > 0);
END
$$;

CREATE FUNCTION sandbox_exec._enqueue_many(caller regrole, requests jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    index bigint;
    request jsonb;
    r sandbox_exec._request;
    state text;
    message text;
    detail text;
    hint text;
BEGIN
    PERFORM sandbox_exec._check_requests(requests);
    FOR request, index IN
        SELECT q.request, q.place - 1
        FROM jsonb_array_elements(requests) WITH ORDINALITY q(request, place) ORDER BY q.place
    LOOP
        r := jsonb_populate_record(NULL::sandbox_exec._request, request);
        RETURN NEXT sandbox_exec._enqueue(caller, r.code, r.args, r.owner, r.org_id, r.thread_id, r.tools,
            r.timeout, r.max_output_chars, r.memory_limit_kb, r.max_attempts, r.priority, r.run_at,
            r.idempotency_key, r.runtime);
    END LOOP;

-- what is wrong with a value is said as enqueue says it, and of which element
EXCEPTION WHEN data_exception OR program_limit_exceeded OR insufficient_privilege THEN
    IF index IS NULL THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message,
        DETAIL = ltrim(format('%s The request is requests[%s].', detail, index)),
        HINT = coalesce(nullif(hint, ''), 'Give values of the types that the parameters of enqueue() have.');
END
$$;
