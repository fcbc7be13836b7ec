/*
 * containment.c
 *		A tool runs as the role that submitted its execution, and what it does
 *		to the session ends with it.
 *
 * The server has most of what it takes: a security-restricted operation, as
 * REINDEX uses for functions of an index's owner, refuses SET ROLE, temporary
 * tables, PREPARE, LISTEN and cursors WITH HOLD; a subtransaction takes care of
 * rows; a nest level of settings undoes every SET.  The rest is done by hand:
 *
 * - Deferred triggers would run at commit, as the user of the commit.  Such an
 *   operation refuses to put any off, so none is deferred: constraints are
 *   checked, and triggers run, at the end of each statement.
 * - Advisory locks of the session, the values that currval() and lastval() tell
 *   and the seed of random() know of no transaction.
 * - Temporary functions and types aren't refused.  A type of that kind comes
 *   before all others in every search_path.
 * - Parallel workers get neither the settings that name the execution, so that a
 *   policy of row security would hide every row, or show every row, nor anything
 *   else of what is here: there are none.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "caller.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "compat.h"
#include "containment.h"
#include "language.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "search_path.h"
#include "settings.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* what leave() brings back */
typedef struct Outside
{
	bool		valid;			/* a tool is on the stack */
	const Containment *tool;	/* it, while it is */
	Oid			user;
	int			security_context;
	Oid			session_user;
	bool		session_user_is_superuser;
	Oid			role;			/* of SET ROLE; InvalidOid: none */
	bool		role_is_superuser;
	Oid			quiet;			/* see containment_note_quiet() */
	int			settings;		/* nest level; 0: not put on */
	int64		temporaries;	/* sum_temporaries() */
} Outside;

static Outside outside;

/* -------------------------------------------------------------- settings */

static void
set(const char *name, const char *value, GucContext context)
{
	(void) set_config_option(name, value, context, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * A tool should not depend on which session happens to run it.  Most have these
 * values already.
 */
static void
set_defaults(void)
{
	static const char *const settings[][2] = {
		{"lock_timeout", "0"},	/* a worker has one; the tool's own time ends waits */
		{"max_parallel_workers_per_gather", "0"},
		{"row_security", "on"},
		{"session_replication_role", "origin"},
		{"DateStyle", "ISO, MDY"},
		{"IntervalStyle", "postgres"},
		{"TimeZone", "UTC"},
		{"bytea_output", "hex"},
		{"extra_float_digits", "1"},
		{"xmlbinary", "base64"},
		{"standard_conforming_strings", "on"},
		{"transform_null_equals", "off"},
	};
	int			i;

	settings_lock();
	for (i = 0; i < lengthof(settings); i++)
		if (strcmp(GetConfigOption(settings[i][0], false, false), settings[i][1]) != 0)
			set(settings[i][0], settings[i][1], PGC_SUSET);
}

/*
 * Where the session has a temporary schema, it comes last: it is not the
 * submitter's, and a new session would have none.
 */
static void
set_search_path(const Containment *tool)
{
	const char *path = "pg_catalog, pg_temp";

	if (!tool->own_search_path && !tool->trusted)
	{
		path = search_path_of_session(tool->submitter);
		if (outside.temporaries >= 0)
			path = psprintf("%s, pg_temp", path[0] ? path : "pg_catalog");
	}
	set("search_path", path, PGC_USERSET);
}

/* these only C can set: PGC_INTERNAL */
static void
set_context(const Containment *tool)
{
	set("sandbox_exec.execution_id", tool->execution_id, PGC_INTERNAL);
	set("sandbox_exec.owner", tool->owner, PGC_INTERNAL);
	set("sandbox_exec.org_id", tool->org_id ? tool->org_id : "", PGC_INTERNAL);
	set("sandbox_exec.thread_id", tool->thread_id ? tool->thread_id : "", PGC_INTERNAL);
}

/* -------------------------------------------------------------- identity */

/*
 * A new session user needs a session that a superuser opened, before 17; every
 * worker is one.  Elsewhere session_user stays what it is.
 */
static void
set_session_user(Oid user, bool is_superuser)
{
	if (user != GetSessionUserId() && compat_may_set_session_user())
		SetSessionAuthorization(user, is_superuser);
}

static void
take_identity(const Containment *tool)
{
	Oid			user = tool->trusted ? caller_extension_owner() : tool->submitter;

	set_session_user(tool->submitter, superuser_arg(tool->submitter));
	SetCurrentRoleId(InvalidOid, false);
	SetUserIdAndSecContext(user, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

static void
restore_identity(void)
{
	SetUserIdAndSecContext(outside.user, 0);
	set_session_user(outside.session_user, outside.session_user_is_superuser);
	SetCurrentRoleId(outside.role, outside.role_is_superuser);
	SetUserIdAndSecContext(outside.user, outside.security_context);
}

/* ----------------------------------------------------- temporary objects */

/* another number for other objects; -1 without a temporary schema */
static int64
sum_temporaries(void)
{
	Oid			schema;
	Oid			toast_schema;
	Relation	rel;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	int64		sum = 0;

	GetTempNamespaceState(&schema, &toast_schema);
	if (!OidIsValid(schema))
		return -1;
	rel = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(NamespaceRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(schema));
	scan = systable_beginscan(rel, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		sum += 1 + (int64) hash_bytes_uint32(((Form_pg_depend) GETSTRUCT(tuple))->objid);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return sum;
}

static void
refuse_temporaries(void)
{
	CommandCounterIncrement();
	if (sum_temporaries() != outside.temporaries)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot create temporary objects in a tool")));
}

/* ---------------------------------------------------------- leaving traces */

/* whatever seed a tool has set, nobody knows this one */
static void
reseed_random(void)
{
	static uint64 bits[64];		/* of many tools: to ask for them costs as much each time */
	static int	left = 0;
	double		seed;

	if (left == 0 && !pg_strong_random(bits, sizeof(bits)))
		return;
	if (left == 0)
		left = lengthof(bits);
	seed = (double) (bits[--left] >> 11) / (double) (UINT64CONST(1) << 53);
	(void) DirectFunctionCall1(setseed, Float8GetDatum(2 * seed - 1));
}

static void
forget_session_state(void)
{
	LockReleaseSession(USER_LOCKMETHOD);
	ResetSequenceCaches();
	reseed_random();
}

/*
 * The last resort: leave() itself failed.  Nobody may go on with the identity
 * of a submitter.
 */
static void
restore_at_abort(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_ABORT || !outside.valid)
		return;
	language_unwatch();
	settings_unlock();
	restore_identity();
	outside.valid = false;
}

/* ------------------------------------------------------------- in and out */

void
containment_enter(const Containment *tool)
{
	static bool registered = false;

	Assert(!outside.valid);
	if (!registered)
		RegisterXactCallback(restore_at_abort, NULL);
	registered = true;
	memset(&outside, 0, sizeof(outside));
	GetUserIdAndSecContext(&outside.user, &outside.security_context);
	outside.session_user = GetSessionUserId();
	outside.session_user_is_superuser = GetSessionUserIsSuperuser();
	outside.role = GetCurrentRoleId();
	outside.role_is_superuser = OidIsValid(outside.role) && superuser_arg(outside.role);
	outside.temporaries = sum_temporaries();
	outside.tool = tool;
	outside.valid = true;

	/* SetSessionAuthorization(), and a rollback to here, expect no context */
	SetUserIdAndSecContext(outside.user, 0);
	language_watch(tool->submitter, tool->owner);
}

/* nothing is put off until commit: then nobody knows any more for whom it was */
static void
set_constraints_immediate(void)
{
	AfterTriggerSetState(makeNode(ConstraintsSetStmt));
}

void
containment_put_on(const Containment *tool)
{
	set_constraints_immediate();
	outside.settings = NewGUCNestLevel();
	set_defaults();
	set_search_path(tool);
	set_context(tool);
	take_identity(tool);
}

void
containment_take_off(void)
{
	refuse_temporaries();

	/* as if rolled back: a plain SET would survive a commit of the level */
	AtEOXact_GUC(false, outside.settings);
}

void
containment_leave(void)
{
	language_unwatch();
	settings_unlock();
	restore_identity();
	forget_session_state();
	outside.valid = false;
}

void
containment_note_quiet(Oid function)
{
	outside.quiet = function;
}

bool
containment_was_quiet(Oid function)
{
	return outside.quiet == function;
}

bool
containment_in_tool(void)
{
	return outside.valid;
}

const char *
containment_execution(void)
{
	return outside.valid ? outside.tool->execution_id : NULL;
}

const char *
containment_owner(void)
{
	return outside.valid ? outside.tool->owner : NULL;
}

void
containment_refuse_in_tool(const char *function)
{
	if (outside.valid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s cannot be called by a tool", function),
				 errdetail("Code must not operate the queue that runs it."),
				 errhint("A tool may call enqueue(), enqueue_many(), get(), list() and tail().")));
}

/*
 * Leaving releases the advisory locks of the session, and can't tell whose they
 * were: an executor that elects a leader with one would lose it without a word.
 */
static void
refuse_advisory_locks(const char *function)
{
	LockData   *locks = GetLockStatusData();
	int			i;

	for (i = 0; i < locks->nelements; i++)
		if (locks->locks[i].pid == MyProcPid && locks->locks[i].holdMask != 0 &&
			locks->locks[i].locktag.locktag_type == LOCKTAG_ADVISORY)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("%s cannot be called in a session that holds advisory locks", function),
					 errdetail("The locks of a session are released after each tool."),
					 errhint("Use a connection of its own.")));
}

/*
 * SET CONSTRAINTS ALL IMMEDIATE runs what is deferred.  For a tool that is done
 * by the owner of the extension, so what the caller's transaction has deferred
 * must run before, as the caller; and nothing may be deferred once more.
 */
static void
run_deferred(void)
{
	language_forbid_deferring(true);
	PG_TRY();
	{
		set_constraints_immediate();
	}
	PG_FINALLY();
	{
		language_forbid_deferring(false);
	}
	PG_END_TRY();
}

void
containment_settle_session(const char *function)
{
	run_deferred();
	refuse_advisory_locks(function);
}
