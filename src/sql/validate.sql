/*
 * What enqueue accepts.  The rules exist once, here, with their words: enqueue
 * gives the arguments after defaults were filled in; null is allowed only where
 * there is no default.
 *
 * A value of the wrong kind is 22023, a null 22004, an impossible time 22008,
 * a value beyond a limit 54000.
 */
CREATE FUNCTION sandbox_exec._check_request(
    code text, args jsonb, owner text, org_id text, thread_id text, tools text[],
    timeout interval, max_output_chars integer, memory_limit_kb integer, max_attempts integer,
    priority integer, run_at timestamptz, idempotency_key text, runtime text)
RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed record;
    too_long record;
BEGIN
    IF code IS NULL THEN
        RAISE EXCEPTION 'code must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the program to run as text.';
    ELSIF code !~ '[^[:space:]]' THEN
        RAISE EXCEPTION 'code must not be blank' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It has %s characters, all of them white space.', length(code)),
            HINT = 'Give the program to run as text.';
    ELSIF octet_length(code) > 1048576 THEN
        RAISE EXCEPTION 'code is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes; the limit is 1048576.', octet_length(code)),
            HINT = 'Pass data in args, and split the program.';
    END IF;
    IF octet_length(args::text) > 1048576 THEN
        RAISE EXCEPTION 'args is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 1048576.', octet_length(args::text)),
            HINT = 'Keep large data in a table and pass its key.';
    END IF;

    -- one look for the usual case; then the words
    IF greatest(length(owner), length(org_id), length(thread_id), length(idempotency_key), length(runtime)) > 255
    THEN
        SELECT v.name, length(v.value) AS chars INTO too_long
        FROM (VALUES ('owner', owner), ('org_id', org_id), ('thread_id', thread_id),
                     ('idempotency_key', idempotency_key), ('runtime', runtime)) v(name, value)
        WHERE length(v.value) > 255 LIMIT 1;
        RAISE EXCEPTION '% is too long', too_long.name USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 255.', too_long.chars),
            HINT = 'Use a shorter value, such as an id or a hash.';
    END IF;
    IF owner = '' OR runtime = '' OR idempotency_key = '' THEN
        RAISE EXCEPTION '% must not be empty',
            CASE '' WHEN owner THEN 'owner' WHEN runtime THEN 'runtime' ELSE 'idempotency_key' END
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It is a text of no characters.',
                  HINT = 'Leave it out, or give null, for the default.';
    END IF;
    IF cardinality(tools) > 1000 THEN
        RAISE EXCEPTION 'too many tools' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('There are %s names; the limit is 1000.', cardinality(tools)),
            HINT = 'Name the tools that this execution needs.';
    ELSIF tools <> '{}' AND EXISTS (SELECT FROM unnest(tools) t(name)
                                    WHERE sandbox_exec._is_pattern(t.name) IS NOT TRUE) THEN
        RAISE EXCEPTION 'tools holds an invalid name' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = (SELECT format('tools[%s] is %s.', t.place, coalesce('"' || left(t.name, 255) || '"', 'null'))
                      FROM unnest(tools) WITH ORDINALITY t(name, place)
                      WHERE sandbox_exec._is_pattern(t.name) IS NOT TRUE ORDER BY t.place LIMIT 1),
            HINT = 'Give names such as app.lookup, patterns such as app.*, or * for every tool.';
    END IF;

    allowed := sandbox_exec._limits();
    IF timeout < interval '1 ms' OR timeout > allowed.max_timeout THEN
        RAISE EXCEPTION 'timeout is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', timeout),
            HINT = format('Give at least 1 ms and at most sandbox_exec.max_timeout, which is %s.', allowed.max_timeout);
    ELSIF max_output_chars NOT BETWEEN 0 AND 200000 THEN
        RAISE EXCEPTION 'max_output_chars is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', max_output_chars),
            HINT = 'Give 0 to 200000 characters.';
    ELSIF memory_limit_kb NOT BETWEEN 1024 AND allowed.memory_limit_kb THEN
        RAISE EXCEPTION 'memory_limit_kb is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', memory_limit_kb),
            HINT = format('Give 1024 to sandbox_exec.memory_limit, which is %s kB.', allowed.memory_limit_kb);
    ELSIF max_attempts NOT BETWEEN 1 AND 100 THEN
        RAISE EXCEPTION 'max_attempts is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', max_attempts),
            HINT = 'Give 1 to 100.';
    ELSIF priority NOT BETWEEN -1000000 AND 1000000 THEN
        RAISE EXCEPTION 'priority is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', priority),
            HINT = 'Give -1000000 to 1000000; higher is claimed earlier.';
    ELSIF NOT isfinite(run_at) THEN
        RAISE EXCEPTION 'run_at must be finite' USING ERRCODE = 'datetime_field_overflow',
            DETAIL = format('It is %s.', run_at),
            HINT = 'Give a point in time, or leave it out to run at once.';
    END IF;
END
$$;

-- how many rows a call may take at once
CREATE FUNCTION sandbox_exec._check_max_rows(max_rows integer, default_rows integer) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF max_rows NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_rows is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', max_rows),
            HINT = 'Give 1 to 1000, and call again for more.';
    END IF;
    RETURN coalesce(max_rows, default_rows);
END
$$;
