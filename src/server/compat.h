/*
 * compat.h
 *		What differs between PostgreSQL 14 and 18.  The only file that may read
 *		PG_VERSION_NUM.
 */
#ifndef SANDBOX_EXEC_COMPAT_H
#define SANDBOX_EXEC_COMPAT_H

#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"

#if PG_VERSION_NUM < 140000 || PG_VERSION_NUM >= 190000
#error "sandbox_exec supports PostgreSQL 14 to 18"
#endif

/* shared memory is asked for in a hook of its own since 15 */
#if PG_VERSION_NUM >= 150000
#define COMPAT_SHMEM_REQUEST_HOOK 1
#else
#define COMPAT_SHMEM_REQUEST_HOOK 0
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* the analysis of a statement knows of named tuplestores since 15 */
#if PG_VERSION_NUM >= 150000
#define compat_parse_analyze_varparams(tree, query, types, count) \
	parse_analyze_varparams(tree, query, types, count, NULL)
#else
#define compat_parse_analyze_varparams parse_analyze_varparams
#endif

/* one ownership check for all kinds of objects since 16 */
#if PG_VERSION_NUM >= 160000
#define compat_owns_database(database, role) object_ownercheck(DatabaseRelationId, database, role)
#else
#define compat_owns_database(database, role) pg_database_ownercheck(database, role)
#endif

/* one check of privileges for all kinds of objects since 16 */
#if PG_VERSION_NUM >= 160000
#define compat_may_execute(function, role) \
	(object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK)
#define compat_may_use_schema(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK)
#else
#define compat_may_execute(function, role) \
	(pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK)
#define compat_may_use_schema(schema, role) \
	(pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK)
#endif

/* until 16 only a session that a superuser opened can have another session user */
#if PG_VERSION_NUM >= 170000
#define compat_may_set_session_user() true
#else
#define compat_may_set_session_user() superuser_arg(GetAuthenticatedUserId())
#endif

/* a setting since 17 */
#define COMPAT_TRANSACTION_TIMEOUT (PG_VERSION_NUM >= 170000)

/* the server's own record of a setting that there is */
#if PG_VERSION_NUM >= 160000
#define compat_all_settings(count) get_guc_variables(count)
#define compat_find_setting(name) find_option(name, false, false, ERROR)
#else
#define compat_all_settings(count) (*(count) = GetNumConfigOptions(), get_guc_variables())

static inline struct config_generic *
compat_find_setting(const char *name)
{
	struct config_generic **all = get_guc_variables();
	int			i = 0;

	while (strcmp(all[i]->name, name) != 0)
		i++;
	return all[i];
}
#endif

/* timeouts repeat by themselves since 15 */
#if PG_VERSION_NUM >= 150000
#define compat_start_ticks(id, ms) \
	enable_timeout_every(id, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms), ms)
#define compat_repeat_timeout(id, ms) ((void) 0)
#else
#define compat_start_ticks(id, ms) enable_timeout_after(id, ms)
#define compat_repeat_timeout(id, ms) enable_timeout_after(id, ms)
#endif

/* a plan is run once since 18 */
#if PG_VERSION_NUM >= 180000
#define compat_executor_run(query, count) ExecutorRun(query, ForwardScanDirection, count)
#else
#define compat_executor_run(query, count) ExecutorRun(query, ForwardScanDirection, count, true)
#endif

/* wait event sets are owned by a resource owner since 17; ours live on */
#if PG_VERSION_NUM >= 170000
#define compat_create_wait_event_set(n) CreateWaitEventSet(NULL, n)
#else
#define compat_create_wait_event_set(n) CreateWaitEventSet(TopMemoryContext, n)
#endif

/* wait event sets have a header of their own since 18 */
#if PG_VERSION_NUM >= 180000
#include "storage/waiteventset.h"
#endif

#endif
