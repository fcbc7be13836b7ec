/*
 * shmem.c
 *		Creates the shared state and keeps its small invariants.
 */
#include "postgres.h"

#include "bound.h"
#include "common/hashfn.h"
#include "compat.h"
#include "miscadmin.h"
#include "shmem.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

SharedState *shared = NULL;

static shmem_startup_hook_type next_startup = NULL;

/* between failed starts for one database; doubles */
#define RETRY_MS 1000
#define RETRY_MAX_MS (60 * 1000)

#define SHMEM_NAME "sandbox_exec"

static void
request(void)
{
	RequestAddinShmemSpace(MAXALIGN(sizeof(SharedState)));
	RequestNamedLWLockTranche(SHMEM_NAME, 1);
}

#if COMPAT_SHMEM_REQUEST_HOOK
static shmem_request_hook_type next_request = NULL;

static void
request_hook(void)
{
	if (next_request)
		next_request();
	request();
}
#endif

/*
 * A server start is known by the time at which its shared memory was made.
 * A crash restart makes it anew, so claims of workers that died with the old
 * memory are recognized, as are those of a server that was stopped.
 */
static void
initialize(void)
{
	int			i;

	memset(shared, 0, sizeof(SharedState));
	shared->lock = &(GetNamedLWLockTranche(SHMEM_NAME))->lock;
	shared->epoch = GetCurrentTimestamp();
	shared->next_worker_no = 1;
	shared->rescan = true;
	for (i = 0; i < WAIT_SLOTS; i++)
	{
		pg_atomic_init_u64(&shared->waits[i].generation, 0);
		ConditionVariableInit(&shared->waits[i].changed);
	}
}

static void
startup_hook(void)
{
	bool		found;

	if (next_startup)
		next_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct(SHMEM_NAME, sizeof(SharedState), &found);
	if (!found)
		initialize();
	LWLockRelease(AddinShmemInitLock);
}

void
shmem_install(void)
{
#if COMPAT_SHMEM_REQUEST_HOOK
	next_request = shmem_request_hook;
	shmem_request_hook = request_hook;
#else
	request();
#endif
	next_startup = shmem_startup_hook;
	shmem_startup_hook = startup_hook;
}

DatabaseSlot *
shmem_known_database(Oid database)
{
	int			i;

	for (i = 0; i < MAX_DATABASES; i++)
		if (shared->databases[i].database == database)
			return &shared->databases[i];
	return NULL;
}

DatabaseSlot *
shmem_database(Oid database)
{
	DatabaseSlot *slot = shmem_known_database(database);
	DatabaseSlot *vacant;

	if (slot != NULL)
		return slot;
	vacant = shmem_known_database(InvalidOid);
	if (vacant != NULL)
	{
		memset(vacant, 0, sizeof(DatabaseSlot));
		vacant->database = database;
		vacant->next_due = DT_NOEND;
		vacant->bound.from = bound_first;
	}
	return vacant;
}

void
shmem_postpone(Oid database)
{
	DatabaseSlot *slot = shmem_database(database);
	long		ms;

	if (slot == NULL)
		return;
	ms = Min(RETRY_MS << Min(slot->failures, 6), RETRY_MAX_MS);
	slot->failures++;
	slot->retry_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms);
}

void
shmem_poke_launcher(void)
{
	if (shared->launcher_latch != NULL)
		SetLatch(shared->launcher_latch);
}

bool
shmem_wake_worker(Oid database)
{
	bool		starting = false;
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];

		if (slot->database != database || slot->leave || slot->yield)
			continue;
		if (slot->state == SLOT_STARTING)
			starting = true;
		if (slot->state != SLOT_IDLE)
			continue;

		/*
		 * Counted as busy from here on, so that the next commit wakes another
		 * one; it says itself when it is idle again.
		 */
		slot->state = SLOT_BUSY;
		SetLatch(slot->latch);
		return true;
	}
	return starting;
}

bool
shmem_set_reason(HealthReason which, const char *reason)
{
	bool		news;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	news = strncmp(shared->reasons[which], reason ? reason : "", REASON_SIZE - 1) != 0;
	strlcpy(shared->reasons[which], reason ? reason : "", REASON_SIZE);
	LWLockRelease(shared->lock);
	return news && reason != NULL;
}

void
shmem_wake_waiters(int slot)
{
	pg_atomic_fetch_add_u64(&shared->waits[slot].generation, 1);
	ConditionVariableBroadcast(&shared->waits[slot].changed);
}

int
shmem_wait_slot(const pg_uuid_t *id, Awaited what)
{
	const int	slots = WAIT_SLOTS / AWAIT_KINDS;

	return what * slots + hash_bytes(id->data, UUID_LEN) % slots;
}
