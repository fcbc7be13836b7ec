/*
 * The journal: what the code called, in the order in which it did, and what it
 * was given.  A later attempt runs none of it again.
 *
 *      outcome     delivered_no
 *      pending     null            it waits for an answer (pause.sql)
 *      pending     a number        it was approved, and is to be run by the next attempt
 *      ok, error   a number        it is over
 */
CREATE TABLE sandbox_exec.call (
    execution_id uuid NOT NULL,
    seq integer NOT NULL,
    delivered_no integer,               -- the order in which outcomes reach the code
    created_at timestamptz NOT NULL,    -- of the outcome, once there is one
    pos bigint,                         -- where the log has the call, and next what it returned; null: in rows of
                                        -- its own, for they came apart
    brief boolean NOT NULL,             -- the log was full: it leaves out args and value
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    args jsonb,                         -- null: none
    value jsonb,                        -- null: null; an error is an object
    PRIMARY KEY (execution_id, seq)
    -- no CHECK: each statement parses them anew, here a tenth of a call
);

COMMENT ON TABLE sandbox_exec.call IS 'the journal: what the code of executions called, and what came of it';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.call', '');

/*
 * The source of a module stays where it is: the journal holds the version, and
 * versions never change.
 */
CREATE FUNCTION sandbox_exec._recorded_value(kind text, name text, outcome text, value jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF kind = 'module' AND outcome = 'ok' THEN
        RETURN (SELECT to_jsonb(m.source) FROM sandbox_exec.module m
                WHERE m.name = _recorded_value.name AND m.version = (_recorded_value.value ->> 'version')::integer);
    END IF;
    RETURN value;
END
$$;

-- what the code of an earlier attempt called, for executors that replay by
-- themselves; no rows when the claim no longer holds
CREATE FUNCTION sandbox_exec._journal(id uuid, token uuid, after_seq integer, max_rows integer)
RETURNS TABLE (seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
               delivered_no integer, at timestamptz)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    after_seq := coalesce(after_seq, 0);
    max_rows := sandbox_exec._check_max_rows(max_rows, 1000);
    RETURN QUERY
    SELECT c.seq, c.kind, c.name, c.args, c.outcome,
           sandbox_exec._recorded_value(c.kind, c.name, c.outcome, c.value), c.delivered_no, c.created_at
    FROM sandbox_exec.execution e JOIN sandbox_exec.call c ON c.execution_id = e.id
    WHERE e.id = _journal.id AND e.status = 'running' AND e.claim_token = token AND c.seq > after_seq
    ORDER BY c.seq LIMIT max_rows;
END
$$;
