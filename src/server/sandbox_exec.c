/*
 * sandbox_exec.c
 *		Where the server enters the library.
 */
#include "postgres.h"

#include "fmgr.h"
#include "guc.h"
#include "hooks.h"
#include "launcher.h"
#include "miscadmin.h"
#include "search_path.h"
#include "shmem.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/*
 * Without preload only the SQL functions work: there is no shared memory, no
 * launcher, no worker; waits poll.
 */
void
_PG_init(void)
{
	guc_define();
	if (!process_shared_preload_libraries_in_progress)
		return;
	search_path_note();
	shmem_install();
	hooks_install();
	launcher_register();
}
