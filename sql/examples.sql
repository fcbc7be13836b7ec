-- the examples of docs/reference.md, run by this server's workers
\set SHOW_CONTEXT never

-- start: run code, and see what came of it
SELECT sandbox_exec.enqueue($$ print("hello"); return 6 * 7 $$) AS id \gset
SELECT status, result, stdout FROM sandbox_exec.wait(:'id');

-- enqueue
SELECT sandbox_exec.enqueue(
    $$ return args.price * (1 + args.tax) $$,
    args => '{"price": 80, "tax": 0.25}',
    owner => 'user-17', timeout => '5 s', idempotency_key => 'order-4711') AS id \gset
SELECT status, result FROM sandbox_exec.wait(:'id', owner => 'user-17');

-- enqueue_many
SELECT array_agg(id ORDER BY ordinality) AS ids FROM sandbox_exec.enqueue_many('[
    {"code": "return args * 2", "args": 1, "owner": "user-17"},
    {"code": "return args * 2", "args": 2, "owner": "user-17", "priority": 10}]') WITH ORDINALITY AS made (id, ordinality) \gset
SELECT result FROM unnest(:'ids'::uuid[]) WITH ORDINALITY AS made (id, n), LATERAL sandbox_exec.wait(made.id) ORDER BY n;

-- get and list
SELECT status, error FROM sandbox_exec.get(:'id');
SELECT id = :'id' AS oldest, result FROM sandbox_exec.list(owner => 'user-17', status => 'succeeded') ORDER BY id;

-- failures are data
SELECT sandbox_exec.enqueue($$ error{code = "no_stock", message = "sold out"} $$) AS id \gset
SELECT status, error_code, error FROM sandbox_exec.wait(:'id');
SELECT sandbox_exec.enqueue($$ while true do end $$, timeout => '50 ms') AS id \gset
SELECT status, error_code FROM sandbox_exec.wait(:'id');

-- tail
SELECT sandbox_exec.enqueue($$ print("one") emit{step = 2} io.stderr:write("three\n") $$) AS id \gset
SELECT status FROM sandbox_exec.wait(:'id');
SELECT pos, type, data FROM sandbox_exec.tail(:'id');
SELECT pos, type, data FROM sandbox_exec.tail(:'id', 3, wait => '30 s');

-- what code sees
SELECT sandbox_exec.enqueue($lua$
local total = 0
for _, item in ipairs(args.items) do total = total + item.price * item.count end
print("items: " .. #args.items)
return {total = total}
$lua$, '{"items": [{"price": 3, "count": 2}, {"price": 10, "count": 1}]}') AS id \gset
SELECT status, result, stdout FROM sandbox_exec.wait(:'id');

-- cancel
SELECT sandbox_exec.enqueue($$ return "too late" $$, run_at => now() + interval '1 hour') AS id \gset
SELECT sandbox_exec.cancel(:'id', 'no longer needed');
SELECT status, error FROM sandbox_exec.get(:'id');

-- an executor outside: runtime "test" is served by nobody else here
SELECT sandbox_exec.enqueue('print(1)', runtime => 'test') AS id \gset
SELECT id, claim_token AS token, code FROM sandbox_exec.claim('test', lease => '1 min', executor => 'host-1/4242') \gset
\echo :code
SELECT sandbox_exec.renew(:'id', :'token', '1 min');
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "stdout", "data": {"text": "working\n"}}]');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded', '{"ok": true}', exit_code => 0,
    events => '[{"type": "stdout", "data": {"text": "1\n"}}]');
SELECT status, result, stdout, executor FROM sandbox_exec.get(:'id');

SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "a", "runtime": "test"}, {"code": "b", "runtime": "test"}]');
SELECT jsonb_agg(jsonb_build_object('id', id, 'token', claim_token, 'status', 'succeeded', 'result', code)) AS outcomes
FROM sandbox_exec.claim('test', max_rows => 100) \gset
SELECT done, count(*) FROM sandbox_exec.finalize_many(:'outcomes') GROUP BY done;

SELECT sandbox_exec.enqueue('c', runtime => 'test') AS id \gset
SELECT claim_token AS token FROM sandbox_exec.claim('test') \gset
SELECT sandbox_exec.release(:'id', :'token');
SELECT id, action FROM sandbox_exec.reap();
SELECT sandbox_exec.promote();

-- administration
SELECT sandbox_exec.pause_queue('storage maintenance');
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.drain('1 min');
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.purge('30 days');
SELECT runtime, ready, running FROM sandbox_exec.queue_stats;
SELECT check_name, detail FROM sandbox_exec.health WHERE NOT ok;
CREATE ROLE regress_app;
SELECT sandbox_exec.grant_submitter('regress_app');
CREATE ROLE regress_agent;
SELECT sandbox_exec.grant_executor('regress_agent');

DROP OWNED BY regress_app, regress_agent;
DROP ROLE regress_app, regress_agent;
SELECT test.clear();
