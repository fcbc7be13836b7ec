/*
 * shmem.h
 *		What launcher, workers and sessions share.  The only home of shared
 *		structs, and of the lock that protects them.
 *
 * Nothing here is durable: rows are.  Shared memory holds who is alive, who
 * wants to be woken, and when the next thing falls due; after a crash it starts
 * empty and every database is looked at once.
 *
 *		              starts                  attaches            detaches
 *		  SLOT_FREE ----------> SLOT_STARTING ---------> IDLE/BUSY ----------> FREE
 *		            (launcher)                (worker)             (worker's exit)
 */
#ifndef SANDBOX_EXEC_SHMEM_H
#define SANDBOX_EXEC_SHMEM_H

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/uuid.h"

#define MAX_WORKERS 64
#define MAX_DATABASES 256
#define WAIT_SLOTS 512
#define REASON_SIZE 256

typedef enum WorkerState
{
	SLOT_FREE = 0,
	SLOT_STARTING,				/* registered by the launcher, not yet attached */
	SLOT_IDLE,					/* waits on its latch; a wake-up may choose it */
	SLOT_BUSY
} WorkerState;

/* one worker; all fields are protected by the lock */
typedef struct WorkerSlot
{
	WorkerState state;
	int			worker_no;		/* never used twice in one server start */
	int			pid;			/* 0 until attached */
	Oid			database;
	Latch	   *latch;			/* NULL until attached and after detaching */
	bool		leave;			/* asked to give back what it holds and exit */
	bool		yield;			/* asked to exit when its current execution has ended */
	bool		attention;		/* a claim it holds was cancelled: renew now */
	bool		holds_claims;	/* if it dies now, its claims must be given back */
	TimestampTz kept_at;		/* tried to renew or to end a claim, in vain */
	bool		running;		/* execution is valid */
	pg_uuid_t	execution;		/* what it runs */
	TimestampTz since;			/* when it entered this state */
	TimestampTz started_at;
	TimestampTz ran_at;			/* when its last execution ended; first, started_at */
	uint64		executions;		/* ended by it */
} WorkerSlot;

/* the place of a row in the claim index */
typedef struct ClaimKey
{
	int32		rank;
	TimestampTz run_at;
	pg_uuid_t	id;
} ClaimKey;

/* where claims begin to look, see bound.h */
typedef struct ClaimBound
{
	ClaimKey	from;			/* no row before it is claimable */
	uint64		look;			/* number of the last look that was opened */
	ClaimKey	announced;		/* the first that became claimable since */
	uint64		full_look;		/* the last one that began at the very start */
	TimestampTz full_look_at;
	int64		full_look_took; /* us */
} ClaimBound;
/* a worker that ended since a tool would not; all under the lock */
typedef struct StubbornTool
{
	pg_uuid_t	execution;
	int			worker_no;		/* 0: free */
	char		name[REASON_SIZE];
} StubbornTool;

/* one database that may have the extension; all under the lock */
typedef struct DatabaseSlot
{
	Oid			database;		/* InvalidOid: free */
	bool		probe;			/* not known whether it has the extension */
	bool		work;			/* some row became ready since the last claim */
	bool		watched;		/* the launcher saw it, and looks again by itself */
	bool		draining;		/* drain() stopped claims */
	bool		other_version;	/* the extension is of a version unknown to this library */
	int			holds;			/* sessions whose DDL needs it free of workers */
	TimestampTz next_due;		/* DT_NOEND when nothing waits for its time */
	TimestampTz last_start;		/* a worker was started: who waits longest is next */
	TimestampTz last_repair;	/* reap and promote ran */
	int64		repair_pause;	/* us until they run again, if nothing falls due */
	TimestampTz retry_at;		/* no start before: the last one failed */
	int			failures;		/* failed starts in a row */
	ClaimBound	bound;
} DatabaseSlot;

/* what a session waits for: whoever waits for the end sleeps through the rest */
typedef enum Awaited
{
	AWAIT_END,					/* the execution ended or is paused */
	AWAIT_LOG,					/* its log grew, or the above */
	AWAIT_KINDS
} Awaited;

/*
 * One of WAIT_SLOTS meeting points of waiters: those of one kind of wait lie
 * together, and the hash of an id chooses one of them.
 */
typedef struct WaitSlot
{
	pg_atomic_uint64 generation;	/* raised after commit, before the broadcast */
	ConditionVariable changed;
} WaitSlot;

/* reasons that health shows; empty when all is well */
typedef enum HealthReason
{
	HEALTH_WORKER_START,		/* a worker could not be started */
	HEALTH_RUNNER_START,		/* the runner could not be started */
	HEALTH_SECCOMP,				/* the runner runs without its filter */
	HEALTH_DATABASES,			/* more databases than slots */
	HEALTH_REASONS
} HealthReason;

typedef struct SharedState
{
	LWLock	   *lock;			/* protects all below but the wait slots */
	int64		epoch;			/* identifies this server start, in rows too */
	int			next_worker_no;
	int			launcher_pid;	/* 0 when it does not run */
	Latch	   *launcher_latch;
	bool		rescan;			/* the list of databases changed */
	char		reasons[HEALTH_REASONS][REASON_SIZE];
	WorkerSlot	workers[MAX_WORKERS];
	int			next_stubborn;	/* the oldest of them is overwritten */
	StubbornTool stubborn[MAX_WORKERS];
	DatabaseSlot databases[MAX_DATABASES];
	WaitSlot	waits[WAIT_SLOTS];
} SharedState;

/* NULL where the library was not preloaded: nothing is shared then */
extern SharedState *shared;

/* ask for the memory and install the start-up hook; from _PG_init */
extern void shmem_install(void);

/* The following take the lock themselves unless they say otherwise. */

/* the slot of a database, made when absent; NULL when full; lock held */
extern DatabaseSlot *shmem_database(Oid database);

/* the same, but NULL when absent */
extern DatabaseSlot *shmem_known_database(Oid database);

/* a worker could not serve that database: wait longer each time; lock held */
extern void shmem_postpone(Oid database);

/* wake the launcher; lock held */
extern void shmem_poke_launcher(void);

/*
 * Wake one idle worker of the database.  False when none is idle or about to
 * become so.  Lock held.
 */
extern bool shmem_wake_worker(Oid database);

/* say or unsay (NULL) why something does not work; true when it is news */
extern bool shmem_set_reason(HealthReason which, const char *reason);

/* raise the generation of a wait slot and wake those who sleep there */
extern void shmem_wake_waiters(int slot);

/* the wait slot of an execution */
extern int	shmem_wait_slot(const pg_uuid_t *id, Awaited what);

#endif
