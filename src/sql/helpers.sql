/*
 * What only C knows or can do.  All of it is internal.
 *
 * The functions that wake somebody act when the transaction commits, and only
 * then: before, nobody could see the rows.
 */

-- an id: UUIDv7, strictly increasing within a session
CREATE FUNCTION sandbox_exec._uuid7() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'uuid7_v1';

-- at commit: wake who waits for this execution, and send the NOTIFY; once for
-- each execution that ended
CREATE FUNCTION sandbox_exec._announce(id uuid, status text) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'announce_v1';

-- at commit: wake a worker of this database, since some row became ready
CREATE FUNCTION sandbox_exec._work_ready() RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'work_ready_v1';

-- the same, which row: claims needn't look for it from the start
CREATE FUNCTION sandbox_exec._row_ready(rank integer, run_at timestamptz, id uuid) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'row_ready_v1';

-- a claim looks for rows: from where, and then what came first (server/bound.h)
CREATE FUNCTION sandbox_exec._look(runtime text, OUT look bigint, OUT rank integer, OUT run_at timestamptz, OUT id uuid)
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'look_v1';
CREATE FUNCTION sandbox_exec._looked(look bigint, rank integer, run_at timestamptz, id uuid) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'looked_v1';

-- tell whoever cares about an execution that left the state running: those who
-- wait for its end, or a worker when it is queued again; small enough to be inlined
CREATE FUNCTION sandbox_exec._tell(id uuid, status text) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE WHEN status = 'queued' THEN sandbox_exec._work_ready()
            ELSE sandbox_exec._announce(id, status) END;

-- at commit: wake who reads the log of this execution
CREATE FUNCTION sandbox_exec._wake(id uuid) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'wake_v1';

-- has drain() stopped claims in this database?
CREATE FUNCTION sandbox_exec._draining() RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'draining_v1';

-- let claims go on after drain()
CREATE FUNCTION sandbox_exec._undrain() RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'undrain_v1';

-- at commit: have this database looked at no later than then
CREATE FUNCTION sandbox_exec._work_due(at timestamptz) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'work_due_v1';

-- at commit: have that worker renew at once, so that it hears of a cancel
CREATE FUNCTION sandbox_exec._worker_attention(worker_epoch bigint, worker_no integer) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'worker_attention_v1';

-- identifies this start of the server; null where the library isn't preloaded
CREATE FUNCTION sandbox_exec._server_epoch() RETURNS bigint
    LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'server_epoch_v1';

-- numbers of the live workers of this database, never used twice in one epoch;
-- volatile, since it must be read after the rows that it judges were locked
CREATE FUNCTION sandbox_exec._live_workers() RETURNS integer[]
    LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'live_workers_v1';

-- those among them that tried to renew or to end a claim not longer ago than a
-- lease, and could not: they have not forgotten it
CREATE FUNCTION sandbox_exec._keeping_workers() RETURNS integer[]
    LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'keeping_workers_v1';

-- where we are: system identifier and database oid
CREATE FUNCTION sandbox_exec._home() RETURNS text
    LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'home_v1';

-- an error while a tool is on the stack of this session: code must not operate
-- the queue that runs it, whatever rights its submitter has
CREATE FUNCTION sandbox_exec._not_by_tool(function text) RETURNS void
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'not_by_tool_v1';

-- the settings that SQL needs, with their types
CREATE FUNCTION sandbox_exec._limits(
    OUT max_timeout interval, OUT memory_limit_kb integer, OUT enabled boolean,
    OUT retention interval)
    LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'limits_v1';

-- launcher and workers of the whole cluster
CREATE FUNCTION sandbox_exec._processes()
    RETURNS TABLE (kind text, pid integer, worker_no integer, database name, state text,
                   execution_id uuid, since timestamptz, executions bigint)
    LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'processes_v1';

-- what the library knows about its own state
CREATE FUNCTION sandbox_exec._health()
    RETURNS TABLE (check_name text, ok boolean, detail text)
    LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'health_v1';

-- the installed version of the extension
CREATE FUNCTION sandbox_exec.version() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.extversion FROM pg_catalog.pg_extension x WHERE x.extname = 'sandbox_exec'
$$;
COMMENT ON FUNCTION sandbox_exec.version() IS 'version of the extension that is installed in this database';
