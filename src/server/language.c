/*
 * language.c
 *		What a tool runs that the server doesn't report.
 *
 * Two hooks see every function that isn't built in, also triggers, input
 * functions and what those call: the server asks the first when it looks a
 * function up, except for functions that have settings or are SECURITY DEFINER,
 * whose calls it tells the second.  DO blocks are statements; the utility hook
 * sees those, and the statements that a tool must not make.  A hook of the
 * planner keeps plans serial, since parallel workers know nothing of a tool.
 * All are installed when the first tool runs, so that other sessions don't pay
 * for them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "common/hashfn.h"
#include "commands/defrem.h"
#include "commands/proclang.h"
#include "fmgr.h"
#include "language.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"
#include "settings.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* a trust domain, its owner's name as a hash */
typedef struct Domain
{
	Oid			submitter;
	uint64		owner;
} Domain;

static bool watching = false;
static bool deferring_forbidden = false;
static Domain watched;			/* the last: whose tool it is */
static Domain bound_to;			/* whom this process belongs to */
static int	settings_known;		/* names of settings that were there before the first tool */

static needs_fmgr_hook_type next_needs_hook;
static fmgr_hook_type next_call_hook;
static ProcessUtility_hook_type next_utility_hook;
static planner_hook_type next_planner_hook;

/* ----------------------------------------------------------- languages */

static uint64
hash_of(const char *owner)
{
	return hash_bytes_extended((const unsigned char *) owner, strlen(owner), 0);
}

static void
bind_process(void)
{
	if (!OidIsValid(bound_to.submitter))
		bound_to = watched;
}

/* dblink's named connections are open to the whole session, password and all */
static bool
keeps_connections(HeapTuple function)
{
	bool		isnull;
	Datum		library = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_probin, &isnull);

	return !isnull && strstr(TextDatumGetCString(library), "dblink") != NULL;
}

static bool
is_clean_language(const char *name)
{
	return name != NULL && (strcmp(name, "plpgsql") == 0 || strcmp(name, "sql") == 0);
}

static void
note_function(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			language;

	if (!HeapTupleIsValid(tuple))
		return;
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	if (language == ClanguageId)
	{
		if (keeps_connections(tuple))
			bind_process();
	}
	else if (language != INTERNALlanguageId && language != SQLlanguageId &&
			 !is_clean_language(get_language_name(language, true)))
		bind_process();
	ReleaseSysCache(tuple);
}

static bool
needs_hook(Oid function)
{
	if (watching)
		note_function(function);
	return next_needs_hook && next_needs_hook(function);
}

static void
call_hook(FmgrHookEventType event, FmgrInfo *function, Datum *private)
{
	if (watching && event == FHET_START)
		note_function(function->fn_oid);
	if (next_call_hook)
		next_call_hook(event, function, private);
}

/* ---------------------------------------------------------- statements */

static void
note_block(DoStmt *block)
{
	ListCell   *cell;

	foreach(cell, block->args)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, "language") == 0 && !is_clean_language(defGetString(option)))
			bind_process();
	}
}

static void
refuse_to_defer(ConstraintsSetStmt *statement)
{
	if (deferring_forbidden && statement->deferred)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot defer constraints in a deferred trigger that runs before a tool")));
}

/*
 * A role could give itself a search_path, which leads tools of other owners to
 * functions of its own, or a password, which is a way in from outside, or have all
 * that is made in its name later belong to everybody.  Not even
 * a SECURITY DEFINER function may: by ALTER FUNCTION ... OWNER TO one can belong
 * to any role that the submitter is a member of.
 */
static void
refuse_to_alter_roles(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType != OBJECT_ROLE)
				return;
			break;
		case T_CreateRoleStmt:
		case T_AlterRoleStmt:
		case T_AlterRoleSetStmt:
		case T_DropRoleStmt:
		case T_GrantRoleStmt:
		case T_AlterDatabaseSetStmt:
		case T_AlterDefaultPrivilegesStmt:
		case T_CreateUserMappingStmt:
		case T_AlterUserMappingStmt:
		case T_DropUserMappingStmt:
			break;
		default:
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("cannot execute %s in a tool", CreateCommandName(statement)),
			 errdetail("What it changes is there for all code of the role, and outlives the execution.")));
}

static void
utility_hook(PlannedStmt *statement, const char *query, bool read_only_tree,
			 ProcessUtilityContext context, ParamListInfo params,
			 QueryEnvironment *environment, DestReceiver *destination, QueryCompletion *completion)
{
	if (watching)
		refuse_to_alter_roles(statement->utilityStmt);
	if (watching && IsA(statement->utilityStmt, DoStmt))
		note_block((DoStmt *) statement->utilityStmt);
	if (IsA(statement->utilityStmt, ConstraintsSetStmt))
		refuse_to_defer((ConstraintsSetStmt *) statement->utilityStmt);
	if (next_utility_hook)
		next_utility_hook(statement, query, read_only_tree, context, params,
						  environment, destination, completion);
	else
		standard_ProcessUtility(statement, query, read_only_tree, context, params,
								environment, destination, completion);
}

static PlannedStmt *
plan_hook(Query *query, const char *text, int options, ParamListInfo params)
{
	if (watching)
		options &= ~CURSOR_OPT_PARALLEL_OK;
	if (next_planner_hook)
		return next_planner_hook(query, text, options, params);
	return standard_planner(query, text, options, params);
}

static void
install(void)
{
	static bool installed = false;

	if (installed)
		return;
	installed = true;
	settings_known = settings_count_unknown();
	next_needs_hook = needs_fmgr_hook;
	needs_fmgr_hook = needs_hook;
	next_call_hook = fmgr_hook;
	fmgr_hook = call_hook;
	next_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = utility_hook;
	next_planner_hook = planner_hook;
	planner_hook = plan_hook;
}

void
language_watch(Oid submitter, const char *owner)
{
	install();
	watched.submitter = submitter;
	watched.owner = hash_of(owner);
	watching = true;
}

void
language_unwatch(void)
{
	watching = false;
}

void
language_forbid_deferring(bool forbid)
{
	install();
	deferring_forbidden = forbid;
}

bool
language_may_serve(Oid submitter, const char *owner)
{
	return !OidIsValid(bound_to.submitter) ||
		(bound_to.submitter == submitter && bound_to.owner == hash_of(owner));
}

/* counted when the role changes, since it is not for nothing everywhere */
bool
language_worker_may_serve(Oid submitter, const char *owner)
{
	if (OidIsValid(watched.submitter) && submitter != watched.submitter &&
		settings_count_unknown() > settings_known)
		bind_process();
	return language_may_serve(submitter, owner);
}
