/*
 * enqueue: one row of each table, in the caller's transaction.
 *
 * Null stands for the default in every argument that has one, so that a wrapper
 * can pass its own optional arguments on.
 */
CREATE FUNCTION sandbox_exec._enqueue(
    caller regrole, code text, args jsonb, owner text, org_id text, thread_id text, tools text[],
    timeout interval, max_output_chars integer, memory_limit_kb integer, max_attempts integer,
    priority integer, run_at timestamptz, idempotency_key text, runtime text)
RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    id uuid;
BEGIN
    owner := coalesce(owner, pg_get_userbyid(caller));
    tools := coalesce(tools, '{}');
    timeout := coalesce(timeout, least(interval '10 min', (sandbox_exec._limits()).max_timeout));
    max_output_chars := coalesce(max_output_chars, 50000);
    max_attempts := coalesce(max_attempts, 2);
    priority := coalesce(priority, 0);
    run_at := coalesce(run_at, now);
    runtime := coalesce(runtime, 'lua');
    PERFORM sandbox_exec._check_request(code, args, owner, org_id, thread_id, tools, timeout,
        max_output_chars, memory_limit_kb, max_attempts, priority, run_at, idempotency_key, runtime);

    LOOP
        id := sandbox_exec._uuid7();
        INSERT INTO sandbox_exec.execution_input (id, submitter, owner, idempotency_key, code, args, tools)
        VALUES (id, caller, owner, idempotency_key, code, args, tools)
        ON CONFLICT (submitter, owner, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING;
        EXIT WHEN FOUND;

        -- the key is taken: by now its transaction has committed
        SELECT i.id INTO id FROM sandbox_exec.execution_input i
        WHERE i.idempotency_key = _enqueue.idempotency_key AND i.owner = _enqueue.owner
              AND i.submitter IS NOT DISTINCT FROM caller;  -- not by execution_input_list
        IF FOUND THEN
            RETURN id;
        END IF;
        -- that record was deleted between the two statements: the key is free
    END LOOP;

    INSERT INTO sandbox_exec.execution (
        id, created_at, updated_at, run_at, submitter, rank, timeout_ms, max_output_chars,
        memory_limit_kb, max_attempts, ready, runtime, owner, org_id, thread_id)
    VALUES (
        id, now, now, run_at, caller, -priority, extract(epoch FROM timeout) * 1000, max_output_chars,
        memory_limit_kb, max_attempts, run_at <= now, runtime, owner, org_id, thread_id);
    IF run_at <= now THEN
        PERFORM sandbox_exec._work_ready();
    ELSE
        PERFORM sandbox_exec._work_due(run_at);
    END IF;
    RETURN id;
END
$$;
