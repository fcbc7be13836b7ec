/*
 * What call accepts from executors.  Mistakes of the code never get here: an
 * executor raises those in the code.
 */
CREATE FUNCTION sandbox_exec._check_call(id uuid, token uuid, seq integer, kind text, name text, args jsonb)
RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    missing CONSTANT text := CASE WHEN seq IS NULL THEN 'seq' WHEN kind IS NULL THEN 'kind' WHEN name IS NULL THEN 'name' END;
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION '% must not be null', missing USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the number of the call, its kind, and the name of what the code calls.';
    ELSIF kind NOT IN ('tool', 'module', 'ask', 'sleep', 'event', 'child') THEN
        RAISE EXCEPTION 'unknown kind of call "%"', kind USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'The code calls tools, requires modules, asks, sleeps, or waits for an event or a child.',
            HINT = 'Give tool, module, ask, sleep, event or child.';
    ELSIF length(name) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'name is out of bounds' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters.', length(name)),
            HINT = 'Raise such a name as an error in the code: names have 1 to 255 characters.';
    ELSIF name <> (CASE kind WHEN 'ask' THEN 'ask' WHEN 'sleep' THEN 'sleep' WHEN 'child' THEN 'executions.wait' END) THEN
        RAISE EXCEPTION 'name does not go with the kind' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is "%s", and the kind is %s.', name, kind),
            HINT = 'Give ask for ask, sleep for sleep, and executions.wait for child.';
    ELSIF kind <> 'module' AND jsonb_typeof(args) <> 'object' OR kind = 'module' AND args IS NOT NULL THEN
        RAISE EXCEPTION 'args of kind % must be %', kind, CASE kind WHEN 'module' THEN 'null' ELSE 'a JSON object' END
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is of JSON type %s.', jsonb_typeof(args)),
                  HINT = 'Arguments have names; leave args out where there are none.';
    ELSIF octet_length(args::text) > 1048576 THEN
        RAISE EXCEPTION 'args is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 1048576.', octet_length(args::text)),
            HINT = 'Raise that as an error in the code.';
    END IF;
END
$$;

-- an execution that may make no more calls
CREATE FUNCTION sandbox_exec._called_enough(call_count integer, journal_size integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN call_count >= 1000 OR journal_size > 33554432;

-- a call in a sentence
CREATE FUNCTION sandbox_exec._call_text(kind text, name text, args jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN concat(kind, ' ', name, ' ' || CASE WHEN length(args::text) > 200 THEN left(args::text, 200) || '...'
                                           ELSE args::text END);
