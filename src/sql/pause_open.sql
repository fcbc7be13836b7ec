/*
 * Calls that pause: what each of them takes, and how a pause opens.
 *
 * _call_begin asks here for the kinds ask, sleep, event and child, and for
 * external tools, and gets a verdict of its own kind back: answer (at once:
 * what is wrong, mostly), pause, or sleep, which is short and done in place.
 */

-- a mistake in the arguments of what is no tool
CREATE FUNCTION sandbox_exec._wrong(message text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sandbox_exec._call_error('invalid_arguments', message, NULL, NULL, NULL);

-- null: an interval of time in seconds, or none at all
CREATE FUNCTION sandbox_exec._seconds_problem(what text, seconds jsonb, minimum numeric) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(seconds) <> 'number' THEN format('%s must be a number of seconds', what)
            WHEN seconds::numeric < minimum THEN format('%s must not be %s', what, CASE minimum WHEN 0 THEN 'negative' ELSE 'less than a millisecond' END)
            WHEN seconds::numeric > 31536000 THEN format('%s must not be more than a year', what) END;

CREATE FUNCTION sandbox_exec._ask_problem(args jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unknown text;
    problem text;
BEGIN
    SELECT k INTO unknown FROM jsonb_object_keys(args) k
    WHERE k NOT IN ('message', 'schema', 'url', 'expires') LIMIT 1;
    IF FOUND THEN
        RETURN sandbox_exec._wrong(format('ask takes message, schema or url, and expires, not "%s"', unknown));
    ELSIF jsonb_typeof(args -> 'message') IS DISTINCT FROM 'string' OR args ->> 'message' = '' THEN
        RETURN sandbox_exec._wrong('message must be a text');
    ELSIF length(args ->> 'message') > 10000 THEN
        RETURN sandbox_exec._wrong('message must not have more than 10000 characters');
    ELSIF args ? 'schema' AND args ? 'url' THEN
        RETURN sandbox_exec._wrong('ask takes either a schema or a url');
    ELSIF args ? 'url' AND (jsonb_typeof(args -> 'url') <> 'string' OR args ->> 'url' !~ '^https?://[^[:space:]]+$'
                            OR length(args ->> 'url') > 2048) THEN
        RETURN sandbox_exec._wrong('url must be the address of a page, https://...');
    END IF;
    problem := sandbox_exec._seconds_problem('expires', args -> 'expires', 0.001);
    IF problem IS NOT NULL THEN
        RETURN sandbox_exec._wrong(problem);
    END IF;
    problem := sandbox_exec._schema_problem(args -> 'schema');
    RETURN CASE WHEN problem IS NOT NULL THEN
        sandbox_exec._call_error('invalid_schema', 'the schema cannot be used to ask', NULL, problem,
            'Use type, required and properties with type, enum, minLength, maxLength, minimum and maximum.') END;
END
$$;

/*
 * pause tells _open_pause what to write: kind, and where there are any message,
 * schema, url, child_id, and the seconds after which it is due.
 */
CREATE FUNCTION sandbox_exec._pause_for(
    e sandbox_exec.execution, kind text, args jsonb, slept boolean,
    OUT verdict text, OUT outcome text, OUT value jsonb, OUT pause jsonb, OUT wait_ms integer)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    problem text;
BEGIN
    verdict := 'answer';
    outcome := 'error';
    IF kind IN ('ask', 'event') THEN
        -- null is as good as nothing
        args := (SELECT coalesce(jsonb_object_agg(x.key, x.value) FILTER (WHERE x.value <> 'null'), '{}') FROM jsonb_each(args) x);
    END IF;
    IF kind = 'ask' THEN
        value := sandbox_exec._ask_problem(args);
        pause := args - 'expires' || jsonb_build_object('kind', 'ask', 'seconds', args -> 'expires');
    ELSIF kind = 'sleep' THEN
        problem := sandbox_exec._seconds_problem('seconds', coalesce(args -> 'seconds', 'null'), 0);
        pause := jsonb_build_object('kind', 'sleep', 'seconds', args -> 'seconds');
    ELSIF kind = 'event' THEN
        problem := sandbox_exec._seconds_problem('timeout', args -> 'timeout', 0);
        pause := jsonb_build_object('kind', 'event', 'seconds', args -> 'timeout');
    ELSE
        SELECT * INTO outcome, value, pause FROM sandbox_exec._pause_for_child(e.id, args ->> 'id');
        IF outcome IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
        value := sandbox_exec._wrong(problem);
    END IF;
    IF value IS NOT NULL THEN
        pause := NULL;
        RETURN;
    ELSIF kind = 'sleep' AND (args ->> 'seconds')::numeric <= 0.2 THEN
        pause := NULL;
        wait_ms := (args ->> 'seconds')::numeric * 1000;
        verdict := CASE WHEN slept OR wait_ms = 0 THEN 'answer' ELSE 'sleep' END;
        outcome := 'ok';
        RETURN;
    END IF;
    verdict := 'pause';
    outcome := NULL;
END
$$;

-- a child that has ended answers at once
CREATE FUNCTION sandbox_exec._pause_for_child(parent uuid, id text, OUT outcome text, OUT value jsonb, OUT pause jsonb)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    outcome := 'error';
    IF id IS NULL OR id !~ '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
        value := sandbox_exec._call_error('invalid_tool_arguments', 'invalid arguments: id must be the id of an execution',
            'executions.wait', NULL, 'Give an id that executions.enqueue returned.');
        RETURN;
    END IF;
    SELECT * INTO outcome, value FROM sandbox_exec._child_outcome(parent, id::uuid);
    IF outcome IS NULL THEN
        value := NULL;
        pause := jsonb_build_object('kind', 'child', 'child_id', id);
    END IF;
END
$$;

-- the row of a pause; its call was journaled as pending just now
CREATE FUNCTION sandbox_exec._open_pause(
    id uuid, seq integer, name text, pause jsonb, submitter regrole, owner text, now timestamptz)
RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    due CONSTANT timestamptz := now + (pause ->> 'seconds')::float8 * interval '1 s';
BEGIN
    INSERT INTO sandbox_exec.pause (call_id, execution_id, child_id, requested_at, due_at, seq, submitter, kind, owner,
                                    name, message, url, schema)
    VALUES (sandbox_exec._uuid7(), id, (pause ->> 'child_id')::uuid, now, due, seq, submitter, pause ->> 'kind', owner,
            name, pause ->> 'message', pause ->> 'url', pause -> 'schema');
    IF due IS NOT NULL THEN
        PERFORM sandbox_exec._work_due(due);
    END IF;
END
$$;
