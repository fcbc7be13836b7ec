/*
 * guc.h
 *		The settings (design, section 10).  docs/reference.md explains each.
 */
#ifndef SANDBOX_EXEC_GUC_H
#define SANDBOX_EXEC_GUC_H

/* cluster-wide; changed by reload */
extern bool guc_enabled;		/* workers claim at all */
extern int	guc_workers;		/* budget of workers, at most MAX_WORKERS */
extern int	guc_poll_interval;	/* ms between looks that no wake-up asked for */
extern int	guc_lease;			/* ms a claim of ours holds; renewed at a third */
extern int	guc_max_timeout;	/* ms that enqueue(timeout) may ask for */
extern int	guc_memory_limit;	/* kB of Lua memory: default and maximum */
extern int	guc_runner_nice;	/* nice increment of runners */
extern int	guc_worker_idle_timeout;	/* ms until an idle worker leaves */
extern int	guc_flush_interval; /* ms until output of running code is in the log */
extern int	guc_retention;		/* s that finished executions are kept; -1: for good */
extern int	guc_tool_timeout;	/* ms that a tool may take */
extern bool guc_require_seccomp;	/* refuse to run code without the filter */

/* per session */
extern int	guc_max_wait;		/* ms that wait() and tail() may wait */
extern char *guc_notify_channel;	/* empty: no NOTIFY */

/* define them all; called once, from _PG_init */
extern void guc_define(void);

#endif
