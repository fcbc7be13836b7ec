/*
 * resume: the answer of a person, or of the application that does the work of an
 * external tool.  The first one stands; whoever comes later is told what it was.
 */
CREATE FUNCTION sandbox_exec._check_resume(call_id uuid, action text, content jsonb, actor text, scope text)
RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF call_id IS NULL THEN
        RAISE EXCEPTION 'call_id must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the call_id that the view pending shows.';
    ELSIF action NOT IN ('accept', 'decline', 'cancel') THEN
        RAISE EXCEPTION 'unknown action "%"', action USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A person accepts, declines, or does neither.',
            HINT = 'Give accept, decline or cancel.';
    ELSIF scope NOT IN ('call', 'execution') THEN
        RAISE EXCEPTION 'unknown scope "%"', scope USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'An approval is for one call, or for all that an execution makes of the tool.',
            HINT = 'Give call or execution.';
    ELSIF length(actor) > 255 THEN
        RAISE EXCEPTION 'actor is too long' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 255.', length(actor)),
            HINT = 'Use a shorter value, such as an id.';
    ELSIF octet_length(content::text) > 1048576 THEN
        RAISE EXCEPTION 'content is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 1048576.', octet_length(content::text)),
            HINT = 'Keep large data in a table and answer with its key.';
    END IF;
    PERFORM sandbox_exec._check_nesting('content', content);
END
$$;

-- code reads 100 levels, and what it gets has the value one level down
CREATE FUNCTION sandbox_exec._check_nesting(what text, value jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF jsonb_path_exists(value, 'strict $.**{99} ? (@.type() == "array" || @.type() == "object")') THEN
        RAISE EXCEPTION '% is nested too deeply', what USING ERRCODE = 'program_limit_exceeded',
            DETAIL = 'The limit is 99 levels.',
            HINT = 'Give the data in a flatter form.';
    END IF;
END
$$;

-- may this kind of pause be answered so?
CREATE FUNCTION sandbox_exec._check_answer(kind text, schema jsonb, url text, action text, content jsonb, scope text)
RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    IF kind NOT IN ('ask', 'approval', 'external') THEN
        RAISE EXCEPTION 'this call is not answered by resume()' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It waits for %s.', CASE kind WHEN 'sleep' THEN 'its time' WHEN 'event' THEN 'an event'
                                                          ELSE 'another execution' END),
            HINT = CASE kind WHEN 'event' THEN 'Call signal() with the name of the event.'
                             ELSE 'It goes on by itself; cancel() ends the execution.' END;
    ELSIF scope = 'execution' AND kind <> 'approval' THEN
        RAISE EXCEPTION 'scope "execution" is for approvals' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('This call is of kind %s.', kind),
            HINT = 'Leave scope out.';
    ELSIF action = 'accept' AND url IS NOT NULL AND content IS NOT NULL THEN
        RAISE EXCEPTION 'this call takes no content' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'The person answers on the page of its url.',
            HINT = 'Leave content out.';
    ELSIF action = 'accept' AND schema IS NOT NULL THEN
        problem := sandbox_exec._content_problem(schema, content, 'field');
        IF problem IS NOT NULL THEN
            RAISE EXCEPTION 'content is invalid: %', problem USING ERRCODE = 'invalid_parameter_value',
                DETAIL = 'It does not fit the schema of the call, which stays open.',
                HINT = 'The view pending shows the schema.';
        END IF;
    END IF;
END
$$;

-- a repeat gets what stands, whatever it says itself
CREATE FUNCTION sandbox_exec._resume(
    caller regrole, call_id uuid, action text, content jsonb, actor text, scope text, owner text,
    OUT execution_id uuid, OUT outcome text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now timestamptz;
    p sandbox_exec.pause;
    ended boolean;
BEGIN
    action := coalesce(action, 'accept');
    scope := coalesce(scope, 'call');
    PERFORM sandbox_exec._check_resume(call_id, action, content, actor, scope);
    content := NULLIF(content, 'null');

    -- which execution it is never changes: a look without a lock finds it
    SELECT x.execution_id INTO execution_id FROM sandbox_exec.pause x
    WHERE x.call_id = _resume.call_id AND sandbox_exec._visible(caller, _resume.owner, x.submitter, x.owner);
    SELECT e.finished_at IS NOT NULL INTO ended FROM sandbox_exec.execution e
    WHERE e.id = _resume.execution_id FOR NO KEY UPDATE;
    now := clock_timestamp();       -- after the wait for the lock
    IF NOT ended AND EXISTS (SELECT FROM sandbox_exec.pause x
                             WHERE x.call_id = _resume.call_id AND x.outcome IS NULL AND x.due_at <= now) THEN
        PERFORM sandbox_exec._answer_due_of(execution_id, now);     -- its time came first
    END IF;
    SELECT * INTO p FROM sandbox_exec.pause x
    WHERE x.call_id = _resume.call_id AND x.execution_id = _resume.execution_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'call % does not exist', call_id USING ERRCODE = 'no_data_found',
            DETAIL = 'No call of that id is known, or it is somebody else''s.',
            HINT = 'The view pending lists the calls that wait for an answer.';
    END IF;
    outcome := coalesce(p.outcome, CASE WHEN ended THEN 'cancel' END);
    IF outcome IS NULL OR p.kind NOT IN ('ask', 'approval', 'external') THEN
        PERFORM sandbox_exec._check_answer(p.kind, p.schema, p.url, action, content, scope);
        outcome := action;
        PERFORM sandbox_exec._answer(call_id, action, content, scope, caller, actor);
    END IF;
END
$$;
