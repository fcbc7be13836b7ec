# Shared by bench/run and bench/measure/*.
#
# A measurement is a file in bench/measure, sourced in a shell of its own on a
# fresh server.  It calls record for every single value; bench/summary makes
# medians of them.  Alternatives are measured in turn, A B A B, so that what the
# machine does meanwhile meets all of them.
#
# shellcheck shell=bash

BENCH=$TOP/bench
BENCH_DIR=$BUILD_DIR/bench              # programs, peers, and what was measured
SAMPLES=$BENCH_DIR/samples
PGDB=bench
ROUNDS=${ROUNDS:-3}
shopt -s inherit_errexit                # what fails in $(…) fails the measurement

# record KEY UNIT VALUE: one value; the unit is the same every time
record()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$SAMPLES"
	printf '  %-28s %12.4g %s\n' "$1" "$3" "$2"
}

# record_all PREFIX: lines "NAME UNIT VALUE" on standard input
record_all()
{
	local name unit value
	while read -r name unit value; do record "$1.$name" "$unit" "$value"; done
}

# size NAME DEFAULT [FULL]: how much to do: the variable NAME if it is set, else
# FULL with BENCH_FULL=1, else DEFAULT; times BENCH_SCALE, and at least 1
size()
{
	local value=${!1:-}
	if [ -z "$value" ]; then
		value=$2
		if [ "${BENCH_FULL:-}" = 1 ]; then value=${3:-$2}; fi
		value=$(awk -v n="$value" -v s="${BENCH_SCALE:-1}" 'BEGIN { n = int(n * s); print n < 1 ? 1 : n }')
	fi
	echo "$value"
}

# alternate COMMAND ALTERNATIVE...: COMMAND with each of them in turn, ROUNDS times
alternate()
{
	local command=$1 round alternative
	shift
	for ((round = 0; round < ROUNDS; round++)); do
		for alternative in "$@"; do "$command" "$alternative"; done
	done
}

# ------------------------------------------------------------------ the server

# fresh_server [SETTING...]: a new cluster, with the extension in database bench
fresh_server()
{
	fresh_stop
	as_user rm -rf "$STAGE/data"
	as_user cp -a "$STAGE/template" "$STAGE/data"
	if [ $# -gt 0 ]; then printf '%s\n' "$@" | as_user tee -a "$STAGE/data/postgresql.conf" >/dev/null; fi
	server_start "$STAGE/data"
	fresh_database bench
}

fresh_stop()
{
	if [ -f "$STAGE/data/postmaster.pid" ]; then server_stop "$STAGE/data"; fi
}

fresh_database()
{
	PGDB=postgres sql "CREATE DATABASE $1"
	PGDB=$1 sql 'CREATE EXTENSION sandbox_exec'
	PGDB=$1 run_psql -q -v ON_ERROR_STOP=1 <"$BENCH/schema.sql"
}

# use DATABASE: from here on
use()
{
	PGDB=$1
}

# sql STATEMENT...: each in a transaction of its own; what they yield
sql()
{
	local statements=() statement
	for statement in "$@"; do statements+=(-c "$statement"); done
	run_psql -qAt -v ON_ERROR_STOP=1 "${statements[@]}"
}

# until_true QUERY
until_true()
{
	local deadline=$((SECONDS + 120))
	until [ "$(sql "$1")" = t ]; do
		[ $SECONDS -lt $deadline ] || die "waited too long for: $1"
		sleep 0.05
	done
}

# the connection, for programs that speak libpq and for node
conninfo()
{
	echo "host=$STAGE user=postgres dbname=${1:-$PGDB}"
}

url()
{
	echo "postgres:///${1:-$PGDB}?host=$STAGE&user=postgres"
}

postmaster()
{
	head -n 1 "$STAGE/data/postmaster.pid"
}

# run_pgbench SECONDS [OPTION...]: with the script on standard input; becomes
# pgbench, so run it in the background or in a pipeline
run_pgbench()
{
	local seconds=$1
	shift
	exec "$BINDIR/pgbench" -h "$STAGE" -U postgres -n -M prepared -T "$seconds" -f /dev/stdin "$@" "$PGDB"
}

# pgbench_rate SCRIPT-TEXT SECONDS [OPTION...]: transactions a second
pgbench_rate()
{
	local script=$1
	shift
	run_pgbench "$@" <<<"$script" 2>"$STAGE/tmp/pgbench" | sed -n 's/^tps = \([0-9.]*\).*/\1/p' | grep . \
		|| { cat "$STAGE/tmp/pgbench" >&2; die 'pgbench failed'; }
}

# no_more PID: end what runs in the background
no_more()
{
	kill "$1" 2>/dev/null || true
	wait "$1" || true
}

# query_ms QUERY: milliseconds that the server takes for it, the best of ten
query_ms()
{
	local i
	for ((i = 0; i < 10; i++)); do echo "EXPLAIN (ANALYZE, TIMING OFF) $1;"; done \
		| run_psql -qAt | sed -n 's/^Execution Time: \([0-9.]*\) ms/\1/p' | sort -g | head -n 1
}

# ------------------------------------------------------------------- draining

# drain N [CODE [OWNERS]]: executions a second; N of them become visible by one
# commit, to workers that stand ready, and the clock runs until the last outcome
drain()
{
	sql "CALL bench.drain($1, $(quote "${2:-return 1+1}"), ${3:-1}, NULL)"
}

# what was measured goes; the next round finds what the first one found
clear_queue()
{
	sql 'CALL bench.clear()' 'VACUUM ANALYZE' 'CHECKPOINT'
}

quote()
{
	echo "'${1//\'/\'\'}'"
}

# --------------------------------------------------------------------- peers

# npm install, once: where the peers are then
peers()
{
	local dir=$BENCH_DIR/peers
	mkdir -p "$dir"
	if ! cmp -s "$BENCH/peers/package.json" "$dir/installed.json"; then
		cp "$BENCH/peers/package.json" "$dir"
		(cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error) >&2
		cp "$dir/package.json" "$dir/installed.json"
	fi
	cp "$BENCH"/peers/*.js "$dir"
	echo "$dir"
}
