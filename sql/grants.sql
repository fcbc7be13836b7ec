-- grant_submitter, grant_executor: what they give, and what they don't
\set SHOW_CONTEXT never

CREATE ROLE regress_submitter;
CREATE ROLE regress_executor;
CREATE ROLE regress_admin;
SELECT sandbox_exec.grant_submitter('regress_submitter');
SELECT sandbox_exec.grant_executor('regress_executor');
SELECT sandbox_exec.grant_executor('regress_executor');     -- twice is once

SELECT g.role, string_agg(p.proname, ', ' ORDER BY p.proname COLLATE "C") AS functions
FROM unnest('{regress_submitter,regress_executor,regress_admin}'::text[]) g(role)
     LEFT JOIN pg_proc p ON p.pronamespace = 'sandbox_exec'::regnamespace AND has_function_privilege(g.role, p.oid, 'EXECUTE')
GROUP BY g.role ORDER BY g.role DESC;
SELECT g.role, string_agg(c.relname || ' ' || privilege, ', ' ORDER BY c.relname COLLATE "C") AS relations
FROM unnest('{regress_submitter,regress_executor,regress_admin}'::text[]) g(role)
     LEFT JOIN (pg_class c CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) privilege)
     ON c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind IN ('r', 'v') AND has_table_privilege(g.role, c.oid, privilege)
GROUP BY g.role ORDER BY g.role DESC;

-- a submitter works
SET ROLE regress_submitter;
SELECT sandbox_exec.enqueue('g', runtime => 'test') AS g \gset
SELECT status FROM sandbox_exec.get(:'g');
SELECT count(*) FROM sandbox_exec.list();
SELECT count(*) FROM sandbox_exec.executions;
SELECT count(*) FROM sandbox_exec.due;
SELECT ready FROM sandbox_exec.queue_stats;
SELECT count(*) > 0 AS checks FROM sandbox_exec.health;
SELECT sandbox_exec.version() IS NOT NULL AS version;
SELECT * FROM sandbox_exec.claim('test');
SELECT * FROM sandbox_exec.workers;
SELECT sandbox_exec.pause_queue();
SELECT sandbox_exec.grant_executor('regress_submitter');
RESET ROLE;

-- an executor works; it sees the queue, not the records
SET ROLE regress_executor;
SELECT count(*) FROM sandbox_exec.due;
SELECT ready FROM sandbox_exec.queue_stats;
SELECT count(*) >= 1 AS processes FROM sandbox_exec.workers;
SELECT id AS g, claim_token AS t, code FROM sandbox_exec.claim('test') \gset
SELECT sandbox_exec.renew(:'g', :'t', '1 min'), sandbox_exec.finalize(:'g', :'t', 'succeeded');
SELECT count(*) FROM sandbox_exec.reap();
SELECT sandbox_exec.promote();
SELECT count(*) FROM sandbox_exec.finalize_many('[]');
SELECT sandbox_exec.enqueue('g', runtime => 'test');
SELECT count(*) FROM sandbox_exec.executions;
SELECT * FROM sandbox_exec.execution_input;
RESET ROLE;

-- administration can be granted, function by function
GRANT USAGE ON SCHEMA sandbox_exec TO regress_admin;
GRANT EXECUTE ON FUNCTION sandbox_exec.pause_queue, sandbox_exec.resume_queue, sandbox_exec.grant_submitter TO regress_admin;
SET ROLE regress_admin;
SELECT sandbox_exec.pause_queue();
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.grant_submitter('regress_admin');
SELECT sandbox_exec.adopt();
RESET ROLE;

-- names that need quotes, and roles that are none
CREATE ROLE "regress-;DROP";
SELECT sandbox_exec.grant_submitter('"regress-;DROP"');
SELECT has_function_privilege('regress-;DROP', 'sandbox_exec.version()', 'EXECUTE');
SELECT sandbox_exec.grant_submitter(NULL);
SELECT sandbox_exec.grant_submitter('regress_unknown');
SELECT sandbox_exec.grant_executor(4294967295::oid);

SELECT test.clear();
DROP OWNED BY regress_submitter, regress_executor, regress_admin, "regress-;DROP";
DROP ROLE regress_submitter, regress_executor, regress_admin, "regress-;DROP";
