/*
 * The tables.
 *
 * An execution is two rows: what changes while it lives (execution: short
 * columns, updated twice in a normal life) and what never does
 * (execution_input: code and args, which would be copied with every update).
 * Submitter and owner are in both: the indexes by them need no update there.
 *
 *      queued --claim--> running --finalize--> succeeded | failed | timed_out
 *        ^                 |  |
 *        +- lease expired -+  +-suspend--> paused --answer--> queued
 *                                queued | running | paused --cancel--> cancelled
 *
 * Terminal is final.  Text that is compared or indexed has collation "C": no
 * index here depends on the operating system's locale data.
 *
 * No column holds an oid but regrole ones, which dumps write by name.  There is
 * no foreign key: a row of execution_input is written in the same transaction
 * as its execution, events and calls under its row lock.
 */
CREATE TABLE sandbox_exec.execution (
    id uuid PRIMARY KEY,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,    -- last change of state; a renewal is none
    run_at timestamptz NOT NULL,        -- not before
    started_at timestamptz,             -- first claim
    finished_at timestamptz,
    lease_expires_at timestamptz,       -- never index it: a renewal must stay HOT
    cancel_requested_at timestamptz,
    log_pos bigint NOT NULL DEFAULT 0,  -- last position of the log; 1 is the start itself
    log_size integer NOT NULL DEFAULT 0,    -- bytes of the stored part
    call_count integer NOT NULL DEFAULT 0,      -- rows of the journal: seq goes from 1 to here
    delivered_count integer NOT NULL DEFAULT 0, -- outcomes that the code was given
    journal_size integer NOT NULL DEFAULT 0,    -- bytes of the journal
    open_pauses integer NOT NULL DEFAULT 0,     -- pauses without an answer
    answers integer NOT NULL DEFAULT 0,         -- answers that the code was not given
    worker_epoch bigint,                -- claims of in-server workers only:
    worker_no integer,                  -- which start of the server, which worker
    submitter regrole NOT NULL,
    rank integer NOT NULL,              -- -priority: the claim index ascends
    timeout_ms integer NOT NULL,
    max_output_chars integer NOT NULL,  -- a stream
    memory_limit_kb integer,            -- null: the setting at run time
    max_attempts integer NOT NULL,      -- claims that may be lost
    attempt_count integer NOT NULL DEFAULT 0,
    exit_code integer,
    depth integer NOT NULL DEFAULT 0,   -- 0: not enqueued by another execution
    ready boolean NOT NULL,             -- claimable while queued; false: run_at lies ahead, or paused
    solo boolean NOT NULL DEFAULT false,            -- a claim was lost: claim it alone
    known_started boolean NOT NULL DEFAULT false,   -- this attempt surely began
    claim_token uuid,
    parent_id uuid,                     -- the execution whose code enqueued it
    status text COLLATE "C" NOT NULL DEFAULT 'queued',
    runtime text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    org_id text COLLATE "C",
    thread_id text COLLATE "C",
    executor text,                      -- who claimed it last
    runtime_version text,               -- what ran it
    cancel_reason text,
    error_code text,
    error text,
    result jsonb,
    CONSTRAINT execution_consistent CHECK (sandbox_exec._is_execution(
        status, claim_token, lease_expires_at, worker_no, started_at, finished_at, error_code,
        log_pos, attempt_count, max_attempts, parent_id, depth))
);

CREATE TABLE sandbox_exec.execution_input (
    id uuid PRIMARY KEY,
    submitter regrole NOT NULL,
    owner text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C",
    code text NOT NULL,
    args jsonb,
    tools text[] NOT NULL
);

-- the log: positions of one execution have no gaps (execution.log_pos), with the
-- calls of which the journal tells
CREATE TABLE sandbox_exec.event (
    execution_id uuid NOT NULL,
    pos bigint NOT NULL,
    at timestamptz NOT NULL,
    type text COLLATE "C" NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (execution_id, pos)
    -- no CHECK: each statement parses them anew, here a tenth of a call
);

/*
 * Where this queue is at home.  A copied database brings the row of its original
 * along, and a dump may be restored beside a row of our own, so there is no key:
 * the queue runs only where there is a row and every row names the place
 * (_at_home), and adopt() leaves a single one.
 *
 * CREATE EXTENSION in a restore writes none: the restored executions come before
 * the restored home, and would run in between.  Every script of pg_dump and
 * pg_restore sets row_security first, which nobody else has a reason to do.
 */
CREATE TABLE sandbox_exec.home (
    home text NOT NULL
);
INSERT INTO sandbox_exec.home
SELECT sandbox_exec._home() FROM pg_catalog.pg_settings s WHERE s.name = 'row_security' AND s.source <> 'session';

-- the queue is paused while there is a row; no key, for the same reason
CREATE TABLE sandbox_exec.queue_pause (
    paused_at timestamptz NOT NULL,
    reason text
);

-- publications of all tables want to tell rows apart
ALTER TABLE sandbox_exec.home REPLICA IDENTITY FULL;
ALTER TABLE sandbox_exec.queue_pause REPLICA IDENTITY FULL;

COMMENT ON TABLE sandbox_exec.execution IS 'executions: what changes while they live; see the view executions';
COMMENT ON TABLE sandbox_exec.execution_input IS 'executions: what they were enqueued with';
COMMENT ON TABLE sandbox_exec.event IS 'the log of executions';
COMMENT ON TABLE sandbox_exec.home IS 'where this queue is at home; see adopt()';
COMMENT ON TABLE sandbox_exec.queue_pause IS 'whether the queue is paused; see pause_queue()';

SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.execution', '');
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.execution_input', '');
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.event', '');
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.home', '');
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.queue_pause', '');
