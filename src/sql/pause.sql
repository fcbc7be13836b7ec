/*
 * Pauses: calls that wait for an answer from outside.  A pause holds nothing but
 * its row: no process, no lease, no transaction.
 *
 *      kind        waits for               the answer
 *      ask         a person                accept with content, decline, cancel
 *      approval    a person                accept: the next attempt runs the tool
 *      external    the application         accept with the result, decline, cancel
 *      sleep       due_at                  accept
 *      event       signal(), or due_at     accept with the payload; cancel: it timed out
 *      child       another execution       accept with its record; cancel: it was deleted
 *
 * The call stays pending in the journal until a claim delivers the answer
 * (deliver.sql): an answer that comes during an attempt is for the next, which
 * is what makes each attempt go the same way.  Whoever changes a pause holds
 * the lock of its execution's row.
 *
 * The end of an execution cancels its pauses (_close, due.sql).
 */
CREATE TABLE sandbox_exec.pause (
    call_id uuid PRIMARY KEY,
    execution_id uuid NOT NULL,
    child_id uuid,                      -- of a child
    requested_at timestamptz NOT NULL,
    due_at timestamptz,                 -- it then answers itself; null: never
    answered_at timestamptz,
    seq integer NOT NULL,               -- of its call
    submitter regrole NOT NULL,
    answered_by regrole,                -- null: nobody, but time or another execution
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,     -- that of the call
    outcome text COLLATE "C",           -- null: open
    scope text COLLATE "C",             -- execution: approves later calls of the tool, too
    message text,
    url text,
    actor text,                         -- who answered, in the application's words
    schema jsonb,                       -- what content has to be
    content jsonb,
    CONSTRAINT pause_kind CHECK (kind IN ('ask', 'approval', 'external', 'sleep', 'event', 'child')),
    CONSTRAINT pause_outcome CHECK (outcome IN ('accept', 'decline', 'cancel')),
    CONSTRAINT pause_scope CHECK (scope IN ('call', 'execution')),
    CONSTRAINT pause_answered CHECK ((outcome IS NULL) = (answered_at IS NULL)),
    CONSTRAINT pause_child CHECK ((kind = 'child') = (child_id IS NOT NULL))
);
CREATE UNIQUE INDEX pause_call ON sandbox_exec.pause (execution_id, seq);
CREATE INDEX pause_due ON sandbox_exec.pause (due_at) WHERE outcome IS NULL AND due_at IS NOT NULL;
CREATE INDEX pause_event ON sandbox_exec.pause (name) WHERE outcome IS NULL AND kind = 'event';
CREATE INDEX pause_open ON sandbox_exec.pause (owner, requested_at)
    WHERE outcome IS NULL AND kind IN ('ask', 'approval', 'external');

-- children that ended, until their parents have been told: what waits for a child
-- may be many, and is not to be looked through for the few that go on
CREATE TABLE sandbox_exec.child_end (
    child_id uuid PRIMARY KEY,
    parent_id uuid NOT NULL
);
CREATE INDEX child_end_parent ON sandbox_exec.child_end (parent_id);
COMMENT ON TABLE sandbox_exec.child_end IS 'children that ended, until their parents have been told';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.child_end', '');

COMMENT ON TABLE sandbox_exec.pause IS 'calls that wait for an answer, and what it was; see the view pending';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.pause', '');

-- open pauses that somebody can answer: not those whose time has come, whoever notes it
-- when.  The views on it say whose and which.  Functions in a view run as its user:
-- there is none of ours in it.
CREATE VIEW sandbox_exec._waiting AS
SELECT p.call_id, p.execution_id, p.seq, p.kind, p.name,
       CASE WHEN p.kind = 'ask' THEN NULL
            WHEN octet_length(c.args::text) <= 65536 THEN c.args
            WHEN c.args IS NOT NULL THEN
                jsonb_build_object('truncated', left(c.args::text, 16384), 'bytes', octet_length(c.args::text)) END AS args,
       p.message, p.schema, p.url, p.submitter, p.owner, p.requested_at, p.due_at AS expires_at
FROM sandbox_exec.pause p
     JOIN sandbox_exec.call c ON c.execution_id = p.execution_id AND c.seq = p.seq
WHERE p.outcome IS NULL AND p.kind IN ('ask', 'approval', 'external') AND (p.due_at IS NULL OR p.due_at > statement_timestamp());
