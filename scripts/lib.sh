# Shared by the scripts that run a server.  Source it from the top of a script.
#
# A stage is a directory that holds a private copy of the PostgreSQL that
# PG_CONFIG names, with this build of the extension installed in it.  Servers
# run only from stages: the system's installation is never written to, and no
# step needs root.  PostgreSQL finds its share and lib directories from where
# its executables lie, so the executables are copied and the rest is linked.
#
# A server refuses to run as root.  As root, everything in a stage belongs to
# an unprivileged user and as_user runs commands as that user.
#
# shellcheck shell=bash disable=SC2034 # scripts use what is set here

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_CONFIG=${PG_CONFIG:-pg_config}
BUILD_DIR=${BUILD:-build}
case $BUILD_DIR in /*) ;; *) BUILD_DIR=$TOP/$BUILD_DIR ;; esac

# One language for messages and one time zone, whatever the caller has.
export LC_ALL=C.UTF-8 TZ=UTC
unset PGHOST PGPORT PGUSER PGDATABASE PGSERVICE PGOPTIONS PGDATA PGPASSFILE PGSSLMODE PGAPPNAME

die()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

if [ "$(id -u)" = 0 ]; then
	RUN_USER=postgres
	id postgres >/dev/null 2>&1 || RUN_USER=nobody
else
	RUN_USER=
fi

# as_user COMMAND...: run it as the user that owns the stage, from the stage.
# STAGE_ENV holds more variables for it, as NAME=VALUE words.
as_user()
(
	cd "$STAGE"
	# shellcheck disable=SC2086 # words
	set -- env HOME="$STAGE" TMPDIR="$STAGE/tmp" ${STAGE_ENV:-} "$@"
	if [ -n "$RUN_USER" ]; then set -- runuser -u "$RUN_USER" -- "$@"; fi
	exec "$@"
)

# give PATH...: let that user own it.
give()
{
	if [ -n "$RUN_USER" ]; then chown -R "$RUN_USER" "$@"; fi
}

# stage_fill DIR: (re)make the private tree in DIR, with the current build.
stage_fill()
{
	local dir
	STAGE=$1
	BINDIR=$STAGE$("$PG_CONFIG" --bindir)
	PKGLIBDIR=$STAGE$("$PG_CONFIG" --pkglibdir)
	SHAREDIR=$STAGE$("$PG_CONFIG" --sharedir)
	PGXS_TEST=$(dirname "$("$PG_CONFIG" --pgxs)")/../test

	chmod 755 "$STAGE"
	mkdir -p "$BINDIR" "$PKGLIBDIR" "$SHAREDIR" "$STAGE/tmp"
	# Hard copies of executables: a link would lead back to the original tree.
	cp -rL --update "${BINDIR#"$STAGE"}/." "$BINDIR"
	for dir in "$PKGLIBDIR" "$SHAREDIR"; do
		cp -rs --remove-destination "${dir#"$STAGE"}/." "$dir"
	done
	# Never mistake a copy installed in the system for this build.
	rm -f "$PKGLIBDIR"/sandbox_exec* "$SHAREDIR"/extension/sandbox_exec*
	make --no-print-directory -s -C "$TOP" install DESTDIR="$STAGE" PG_CONFIG="$PG_CONFIG"
	give "$STAGE"
}

# stage_new: a fresh stage that goes away, servers first, when the script ends.
stage_new()
{
	STAGE=$(mktemp -d "${TMPDIR:-/tmp}/sandbox_exec.XXXXXX")
	trap stage_drop EXIT
	trap 'exit 130' INT TERM HUP
	stage_fill "$STAGE"
}

stage_drop()
{
	local status=$? pidfile
	for pidfile in "$STAGE"/*/postmaster.pid; do
		if [ -f "$pidfile" ]; then
			as_user "$BINDIR/pg_ctl" -s -D "$(dirname "$pidfile")" -m immediate stop || true
		fi
	done
	rm -rf "$STAGE"
	exit $status
}

# server_init DIR: a cluster in DIR that listens on a socket in the stage only.
# SERVER_CONF is a file of settings for it.
server_init()
{
	as_user "$BINDIR/initdb" -D "$1" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
	cat "${SERVER_CONF:-$TOP/test/postgresql.conf}" - >>"$1/postgresql.conf" <<-EOF
		listen_addresses = ''
		unix_socket_directories = '$STAGE'
	EOF
}

server_start()
{
	as_user "$BINDIR/pg_ctl" -s -w -D "$1" -l "$1.log" start \
		|| { tail -n 30 "$1.log" >&2; die "the server did not start"; }
}

server_stop()
{
	as_user "$BINDIR/pg_ctl" -s -w -D "$1" -m fast stop
}

# run_psql ARG...: psql on the stage's server, without anybody's ~/.psqlrc
run_psql()
{
	as_user "$BINDIR/psql" -X -h "$STAGE" -U postgres -d "${PGDB:-postgres}" "$@"
}
