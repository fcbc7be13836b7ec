/*
 * guc.c
 *		The settings.
 *
 * Those that shape the workers belong to the server's configuration, so that
 * no session can bend them.  max_wait and notify_channel act in the session
 * that waits or commits; the first has a ceiling that only a superuser moves,
 * the second could hide an outcome from its listeners and is a superuser's too.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "shmem.h"

bool		guc_enabled = true;
int			guc_workers = 4;
int			guc_poll_interval = 1000;
int			guc_lease = 90 * 1000;
int			guc_max_timeout = 30 * 60 * 1000;
int			guc_memory_limit = 64 * 1024;
int			guc_runner_nice = 5;
int			guc_worker_idle_timeout = 60 * 1000;
int			guc_flush_interval = 200;
int			guc_retention = -1;
int			guc_tool_timeout = 30 * 1000;
bool		guc_require_seccomp = true;
int			guc_max_wait = 60 * 1000;
char	   *guc_notify_channel = "sandbox_exec";

/* of the tool that runs; nobody needs them in C */
static char *context_values[4];

#define DAY_MS (24 * 60 * 60 * 1000)

static bool
check_channel(char **newval, void **extra, GucSource source)
{
	if (*newval == NULL || strlen(*newval) < NAMEDATALEN)
		return true;
	GUC_check_errdetail("A channel name has fewer than %d bytes.", NAMEDATALEN);
	return false;
}

static void
define_ms(const char *name, const char *what, const char *more, int *variable,
		  int min, int max, GucContext context)
{
	DefineCustomIntVariable(name, what, more, variable, *variable, min, max,
							context, GUC_UNIT_MS, NULL, NULL, NULL);
}

static void
define_switches(void)
{
	DefineCustomBoolVariable("sandbox_exec.enabled",
							 "Lets workers claim and run executions.",
							 "When off, what is queued stays queued and what runs ends.",
							 &guc_enabled, guc_enabled, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("sandbox_exec.require_seccomp",
							 "Refuses to run code where the seccomp filter cannot be installed.",
							 NULL,
							 &guc_require_seccomp, guc_require_seccomp, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomStringVariable("sandbox_exec.notify_channel",
							   "Channel that is notified when an execution ends or pauses.",
							   "Empty for none.",
							   &guc_notify_channel, guc_notify_channel, PGC_SUSET, 0,
							   check_channel, NULL, NULL);
}

static void
define_numbers(void)
{
	DefineCustomIntVariable("sandbox_exec.workers",
							"Number of workers in the whole cluster.",
							"They are shared fairly between the databases that have work.",
							&guc_workers, guc_workers, 0, MAX_WORKERS, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("sandbox_exec.memory_limit",
							"Memory that one execution may use: the default and the maximum.",
							NULL,
							&guc_memory_limit, guc_memory_limit, 1024, 1024 * 1024,
							PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("sandbox_exec.runner_nice",
							"Nice increment of the processes that run code.",
							NULL,
							&guc_runner_nice, guc_runner_nice, 0, 19, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
}

static void
define_durations(void)
{
	define_ms("sandbox_exec.poll_interval",
			  "Time between an idle worker's looks at the queue.",
			  "A backstop: commits wake workers at once.",
			  &guc_poll_interval, 10, DAY_MS, PGC_SIGHUP);
	define_ms("sandbox_exec.lease",
			  "Time for which a worker's claim holds; it is renewed at a third.",
			  NULL, &guc_lease, 3000, DAY_MS, PGC_SIGHUP);
	define_ms("sandbox_exec.max_timeout",
			  "Longest timeout that an execution may ask for.",
			  NULL, &guc_max_timeout, 1, DAY_MS, PGC_SIGHUP);
	define_ms("sandbox_exec.worker_idle_timeout",
			  "Time after which an idle worker leaves its database.",
			  NULL, &guc_worker_idle_timeout, 0, DAY_MS, PGC_SIGHUP);
	define_ms("sandbox_exec.flush_interval",
			  "Time within which output of running code reaches the log.",
			  NULL, &guc_flush_interval, 10, DAY_MS, PGC_SIGHUP);
	define_ms("sandbox_exec.tool_timeout",
			  "Time that a tool may take.",
			  "Never more than half of what remains of the lease.",
			  &guc_tool_timeout, 1, DAY_MS, PGC_SIGHUP);
	DefineCustomIntVariable("sandbox_exec.retention",
							"Time for which finished executions are kept.",
							"-1 keeps them for good.",
							&guc_retention, guc_retention, -1, INT_MAX, PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);
	define_ms("sandbox_exec.max_wait",
			  "Longest time that wait() and tail() wait.",
			  NULL, &guc_max_wait, 0, DAY_MS, PGC_SUSET);
}

/*
 * Which execution a tool runs for: for policies of row security, and for
 * functions that want to know.  No SET, no option of a connection and no
 * ALTER ROLE changes an internal setting.
 */
static void
define_context(void)
{
	static const char *const settings[lengthof(context_values)][2] = {
		{"sandbox_exec.execution_id", "Execution that the running tool was called by."},
		{"sandbox_exec.owner", "Owner of the execution that the running tool was called by."},
		{"sandbox_exec.org_id", "Organization of the execution that the running tool was called by."},
		{"sandbox_exec.thread_id", "Thread of the execution that the running tool was called by."},
	};
	int			i;

	for (i = 0; i < lengthof(settings); i++)
		DefineCustomStringVariable(settings[i][0], settings[i][1], "Empty while no tool runs.",
								   &context_values[i], "", PGC_INTERNAL,
								   GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE | GUC_NO_RESET_ALL,
								   NULL, NULL, NULL);
}

void
guc_define(void)
{
	define_context();
	define_switches();
	define_numbers();
	define_durations();
	MarkGUCPrefixReserved("sandbox_exec");
}
