/*
 * What the log says of calls: it is for reading along, and leaves out what is
 * large; the journal has everything.
 */
-- stable as what is in it, or it would not be inlined
CREATE FUNCTION sandbox_exec._call_data(seq integer, kind text, name text, args jsonb, show boolean) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN show THEN jsonb_build_object('seq', seq, 'kind', kind, 'name', name, 'args', args)
            ELSE jsonb_build_object('seq', seq, 'kind', kind, 'name', name, 'args', NULL, 'omitted', true) END;

CREATE FUNCTION sandbox_exec._returned_data(seq integer, outcome text, value jsonb, show boolean) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN show THEN jsonb_build_object('seq', seq, 'outcome', outcome, 'value', value)
            ELSE jsonb_build_object('seq', seq, 'outcome', outcome, 'value', NULL, 'omitted', true) END;

-- a call that was over at once has no rows in the log: the journal tells of it
CREATE FUNCTION sandbox_exec._journaled_events(c sandbox_exec.call) RETURNS TABLE (pos bigint, type text, data jsonb)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 2
BEGIN ATOMIC
    SELECT c.pos, 'call',
           sandbox_exec._call_data(c.seq, c.kind, c.name, c.args,
                                   NOT c.brief AND coalesce(octet_length(c.args::text), 0) <= 8192)
    UNION ALL
    SELECT c.pos + 1, 'returned',
           sandbox_exec._returned_data(c.seq, c.outcome, c.value,
                                       NOT c.brief AND coalesce(octet_length(c.value::text), 0) <= 8192);
END;

CREATE FUNCTION sandbox_exec._returned_event(seq integer, outcome text, value jsonb, show boolean) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object('type', 'returned', 'data', sandbox_exec._returned_data(seq, outcome, value, show));

CREATE FUNCTION sandbox_exec._call_log_full(events jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'the log of the execution is full' USING ERRCODE = 'program_limit_exceeded',
        DETAIL = format('These events have %s bytes; the limit of a log is 4194304.', octet_length(events::text)),
        HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
END
$$;
