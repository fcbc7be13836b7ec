\echo
\echo '# One program'
\echo
CREATE EXTENSION sandbox_exec;
SELECT sandbox_exec.enqueue($$ print("hello"); return 6 * 7 $$) AS id \gset
SELECT status, result, stdout FROM sandbox_exec.wait(:'id');

\echo '# Arguments in, JSON out'
\echo
SELECT sandbox_exec.enqueue(
	$$
	local total = 0
	for _, line in ipairs(args.lines) do total = total + line.price * line.count end
	return {customer = args.customer, total = total}
	$$,
	args => '{"customer": "Ada", "lines": [{"price": 250, "count": 2}, {"price": 99, "count": 1}]}') AS id \gset
SELECT status, result FROM sandbox_exec.wait(:'id');

\echo '# It fails, and says where'
\echo
SELECT sandbox_exec.enqueue($$ print("before"); local t; return t.field $$) AS id \gset
SELECT status, error_code, error, stdout FROM sandbox_exec.wait(:'id');

\echo '# It never ends: killed at its timeout, with what it printed kept'
\echo
SELECT sandbox_exec.enqueue($$ print("so far"); while true do end $$, timeout => '300 ms') AS id \gset
SELECT status, error_code, stdout, finished_at - started_at < '2 s' AS in_time FROM sandbox_exec.wait(:'id');

\echo '# It wants all memory'
\echo
SELECT sandbox_exec.enqueue($$ local s = "x" while true do s = s .. s end $$, memory_limit_kb => 16384) AS id \gset
SELECT status, error_code FROM sandbox_exec.wait(:'id');

\echo '# It looks for a way out'
\echo
SELECT sandbox_exec.enqueue($$
	return {execute = os.execute == nil, open = io.open == nil, require = pcall(require, "socket"), debug = debug == nil}
	$$) AS id \gset
SELECT status, result FROM sandbox_exec.wait(:'id');
