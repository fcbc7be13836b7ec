/*
 * compat.h
 *		What differs between PostgreSQL 14 and 18.  The only file that may read
 *		PG_VERSION_NUM.
 */
#ifndef SANDBOX_EXEC_COMPAT_H
#define SANDBOX_EXEC_COMPAT_H

#include "storage/latch.h"
#include "utils/guc.h"

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
