-- who is the submitter, and who sees what
\set SHOW_CONTEXT never

CREATE ROLE regress_alice;
CREATE ROLE regress_bob;
CREATE ROLE regress_team;
CREATE ROLE regress_lead IN ROLE regress_team;
CREATE ROLE regress_noinherit NOINHERIT IN ROLE regress_team;
CREATE ROLE "regress Odd""Name";
CREATE ROLE regress_nobody;
SELECT sandbox_exec.grant_submitter(r::regrole)
FROM unnest('{regress_alice,regress_bob,regress_team,regress_lead,regress_noinherit}'::text[]) r;
SELECT sandbox_exec.grant_submitter('"regress Odd""Name"');
GRANT USAGE ON SCHEMA test TO PUBLIC;

-- no grant, no access
SET ROLE regress_nobody;
SELECT sandbox_exec.enqueue('x');
SELECT * FROM sandbox_exec.executions;
RESET ROLE;

-- the effective user, whatever the session's is
SET ROLE regress_alice;
SELECT sandbox_exec.enqueue('alice', runtime => 'test') IS NOT NULL AS id;
SELECT submitter, owner FROM sandbox_exec.executions;
SET ROLE "regress Odd""Name";
SELECT sandbox_exec.enqueue('odd', runtime => 'odd') IS NOT NULL AS id;
SELECT submitter, owner FROM sandbox_exec.executions;
RESET ROLE;
SET SESSION AUTHORIZATION regress_bob;
SELECT sandbox_exec.enqueue('bob', runtime => 'test', owner => 'x') IS NOT NULL AS id;
SELECT submitter, owner FROM sandbox_exec.executions;
RESET SESSION AUTHORIZATION;

-- a SECURITY DEFINER wrapper submits as its owner; who calls it needs no grant, and sees nothing
CREATE SCHEMA regress_app AUTHORIZATION regress_team;
GRANT USAGE ON SCHEMA regress_app TO PUBLIC;
SET ROLE regress_team;
CREATE FUNCTION regress_app.run(code text) RETURNS uuid
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT sandbox_exec.enqueue(code, runtime => 'test') $$;
CREATE FUNCTION regress_app.whoami() RETURNS TABLE (before name, id uuid, after name)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ BEGIN before := current_user; id := sandbox_exec.enqueue('whoami', runtime => 'test');
                after := current_user; RETURN NEXT; END $$;
SET ROLE regress_nobody;
SELECT regress_app.run('wrapped') IS NOT NULL AS id;
SELECT before, after FROM regress_app.whoami();
SELECT current_user;
RESET ROLE;
SELECT i.code, e.submitter, e.owner FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id)
ORDER BY e.id;

-- the user is restored after an error, too
SET ROLE regress_alice;
SELECT sandbox_exec.enqueue('');
SELECT current_user;
DO $$
BEGIN
    PERFORM sandbox_exec.enqueue('');
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE NOTICE 'still %', current_user;
END $$;
RESET ROLE;

-- another role sees nothing: not in views, not by id, and can't cancel
SELECT test.id('alice') AS alice, test.id('wrapped') AS wrapped \gset
SET ROLE regress_bob;
SELECT count(*) FROM sandbox_exec.executions WHERE id = :'alice';
SELECT count(*) FROM sandbox_exec.get(:'alice');
SELECT count(*) FROM sandbox_exec.list(owner => 'regress_alice');
SELECT count(*) FROM sandbox_exec.wait(:'alice', '0');
SELECT sandbox_exec.cancel(:'alice');
SELECT count(*) FROM sandbox_exec.due;
SELECT ready FROM sandbox_exec.queue_stats;
SELECT detail FROM sandbox_exec.health WHERE check_name = 'runtimes';
-- nor by a function that peeks at rows before the view's filter
CREATE FUNCTION pg_temp.peek(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
    AS $$ BEGIN RAISE NOTICE 'sees %', $1; RETURN true; END $$;
SELECT count(*) FROM sandbox_exec.executions WHERE pg_temp.peek(owner);
-- nor the tables, nor the functions behind the API
SELECT * FROM sandbox_exec.execution;
DELETE FROM sandbox_exec.execution_input;
SELECT sandbox_exec._get('regress_alice', :'alice', NULL);
SELECT sandbox_exec._enqueue('regress_alice', 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- nor by way of operators and functions in front of the search path
RESET ROLE;
CREATE SCHEMA regress_evil AUTHORIZATION regress_bob;
SET ROLE regress_bob;
CREATE FUNCTION regress_evil.trap(text, text) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE FUNCTION regress_evil.trap(uuid, uuid) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE OPERATOR regress_evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = regress_evil.trap);
CREATE OPERATOR regress_evil.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = regress_evil.trap);
SET search_path = regress_evil, pg_catalog;
SELECT count(DISTINCT sandbox_exec.enqueue('careful', runtime => 'test', owner => 'careful', idempotency_key => 'k'))
FROM generate_series(1, 2);
SHOW search_path;
SELECT count(*) FROM sandbox_exec.list(owner => 'careful', status => 'queued');
SELECT count(*) FROM sandbox_exec.list() l, LATERAL sandbox_exec.get(l.id, 'careful');
SELECT count(*) FROM sandbox_exec.list(owner => 'careful') l, LATERAL sandbox_exec.wait(l.id, '0', 'careful');
SELECT sandbox_exec.cancel(id, owner => 'careful') FROM sandbox_exec.list(owner => 'careful');
RESET search_path;
RESET ROLE;

-- members that inherit see their group's; those that don't see it with SET ROLE
SET ROLE regress_lead;
SELECT count(*) FROM sandbox_exec.executions WHERE id = :'wrapped';
SELECT count(*) FROM sandbox_exec.list();
SELECT count(*) FROM sandbox_exec.get(:'wrapped', owner => 'regress_team');
SELECT count(*) FROM sandbox_exec.get(:'wrapped', owner => 'somebody');
RESET ROLE;
SET ROLE regress_noinherit;
SELECT count(*) FROM sandbox_exec.executions;
SELECT count(*) FROM sandbox_exec.list();
RESET ROLE;

-- a dropped submitter breaks nobody's query; a superuser still sees the rows
DROP OWNED BY regress_alice;
DROP ROLE regress_alice;
SET ROLE regress_bob;
SELECT count(*) FROM sandbox_exec.executions;
SELECT count(*) FROM sandbox_exec.list();
SELECT count(*) FROM sandbox_exec.due;
RESET ROLE;
SELECT status, submitter::text ~ '^\d+$' AS by_number FROM sandbox_exec.get(:'alice');
SELECT count(*) FROM sandbox_exec.list(owner => 'regress_alice');
SELECT count(*) FROM sandbox_exec.claim('test', id => :'alice');

-- a renamed one is followed
ALTER ROLE regress_team RENAME TO regress_crew;
SELECT submitter, owner FROM sandbox_exec.get(:'wrapped');

SELECT test.clear();
DROP OWNED BY regress_bob, regress_crew, regress_lead, regress_noinherit, "regress Odd""Name" CASCADE;
DROP ROLE regress_bob, regress_crew, regress_lead, regress_noinherit, "regress Odd""Name", regress_nobody;
REVOKE USAGE ON SCHEMA test FROM PUBLIC;
