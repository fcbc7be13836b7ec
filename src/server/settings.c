/*
 * settings.c
 *		What SET and SHOW don't reach of the server's settings.
 */
#include "postgres.h"

#include "compat.h"
#include "settings.h"

/* what a tool must not set, and whose SET is an ERROR meanwhile */
static const char *const locked[] = {
	"max_parallel_workers",
#if COMPAT_TRANSACTION_TIMEOUT
	"transaction_timeout",		/* it ends the process */
#endif
};

static void
lock(GucContext context)
{
	static struct config_generic *found[lengthof(locked)];
	int			i;

	for (i = 0; i < lengthof(locked); i++)
	{
		if (found[i] == NULL)
			found[i] = compat_find_setting(locked[i]);
		found[i]->context = context;
	}
}

int
settings_count_unknown(void)
{
	struct config_generic **all;
	int			total;
	int			count = 0;
	int			i;

	all = compat_all_settings(&total);
	for (i = 0; i < total; i++)
		if (all[i]->flags & GUC_CUSTOM_PLACEHOLDER)
			count++;
	return count;
}

void
settings_lock(void)
{
	(void) set_config_option("max_parallel_workers", "0", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	lock(PGC_INTERNAL);
}

void
settings_unlock(void)
{
	lock(PGC_USERSET);
}
