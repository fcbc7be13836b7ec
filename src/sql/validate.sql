/*
 * What is accepted.
 *
 * Of enqueue, in C (server/validate.c), where the rules and their words are; null
 * stands for the default, as for enqueue.
 */
CREATE FUNCTION sandbox_exec._check_request(
    code text, args jsonb, owner text, org_id text, thread_id text, tools text[],
    timeout interval, max_output_chars integer, memory_limit_kb integer, max_attempts integer,
    priority integer, run_at timestamptz, idempotency_key text, runtime text)
RETURNS void
    LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'check_request_v1';

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
