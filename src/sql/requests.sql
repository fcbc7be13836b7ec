/*
 * The shape of what enqueue_many takes.  _request gives keys and types their one
 * definition; jsonb_populate_record converts by it.
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
    known jsonb;    -- the keys, and whether they take a text
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

    SELECT jsonb_object_agg(a.attname, a.atttypid = 'text'::regtype) INTO known
    FROM pg_attribute a WHERE a.attrelid = 'sandbox_exec._request'::regclass AND a.attnum > 0;
    SELECT r.place - 1 AS index, m.key, jsonb_typeof(m.value) AS kind, known ? m.key AS known INTO bad
    FROM jsonb_array_elements(requests) WITH ORDINALITY r(request, place)
         CROSS JOIN LATERAL jsonb_each(r.request) m
    WHERE NOT known ? m.key
          OR jsonb_typeof(m.value) NOT IN ('string', 'null') AND known -> m.key = 'true'
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
