/*
 * What call accepts from executors.  Mistakes of the code never get here: an
 * executor raises those in the code.
 */
-- asked at each call; why not, _check_call() tells
CREATE FUNCTION sandbox_exec._is_call(seq integer, kind text, name text, args jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN seq IS NOT NULL AND length(name) BETWEEN 1 AND 255
       AND (args IS NULL AND kind IN ('tool', 'module')
            OR kind = 'tool' AND jsonb_typeof(args) = 'object' AND octet_length(args::text) <= 1048576);

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
    ELSIF kind NOT IN ('tool', 'module') THEN
        RAISE EXCEPTION 'unknown kind of call "%"', kind USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'The code calls tools, or requires modules.',
            HINT = 'Give tool or module.';
    ELSIF length(name) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'name is out of bounds' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters.', length(name)),
            HINT = 'Raise such a name as an error in the code: names have 1 to 255 characters.';
    ELSIF kind = 'tool' AND jsonb_typeof(args) <> 'object' OR kind = 'module' AND args IS NOT NULL THEN
        RAISE EXCEPTION 'args of a % must be %', kind, CASE kind WHEN 'tool' THEN 'a JSON object' ELSE 'null' END
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is of JSON type %s.', jsonb_typeof(args)),
                  HINT = 'Tools take their arguments by name; leave args out where there are none.';
    ELSIF octet_length(args::text) > 1048576 THEN
        RAISE EXCEPTION 'args is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 1048576.', octet_length(args::text)),
            HINT = 'Raise that as an error in the code.';
    END IF;
END
$$;

-- a call in a sentence
CREATE FUNCTION sandbox_exec._call_text(kind text, name text, args jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN concat(kind, ' ', name, ' ' || CASE WHEN length(args::text) > 200 THEN left(args::text, 200) || '...'
                                           ELSE args::text END);
