/*
 * settings.c
 *		What SET and SHOW don't reach of the server's settings.
 */
#include "postgres.h"

#include "compat.h"
#include "settings.h"

static struct config_generic *
workers(void)
{
	static struct config_generic *found = NULL;

	if (found == NULL)
		found = compat_find_setting("max_parallel_workers");
	return found;
}

void
settings_forbid_workers(void)
{
	(void) set_config_option("max_parallel_workers", "0", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	workers()->context = PGC_INTERNAL;
}

void
settings_permit_workers(void)
{
	workers()->context = PGC_USERSET;
}
