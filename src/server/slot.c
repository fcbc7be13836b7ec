/*
 * slot.c
 *		The worker's own place in shared memory.
 */
#include "postgres.h"

#include "guc.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "shmem.h"
#include "slot.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"

#define REPAIR_INTERVAL_US INT64CONST(1000000)

/*
 * Where a repair takes long (it passes all dead entries of what has run, and a
 * session's snapshot may keep those) it comes so much less often.
 */
#define REPAIR_SHARE 20
#define REPAIR_INTERVAL_MAX_US INT64CONST(10000000)

static WorkerSlot *self = NULL;

/* it leaves claims behind: for good, whatever it is told later */
static bool leaves_claims = false;

/* attention that was taken, and not given yet */
static bool put_off = false;

/* the tool that ends it */
static char stubborn[REASON_SIZE];

/* it got as far as to ask the database for work */
static bool served = false;

/* it is about to publish when this database needs a worker next */
static bool looks_for_due = false;
static TimestampTz looks_since;

static void
lock(void)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
}

static void
unlock(void)
{
	LWLockRelease(shared->lock);
}

void
slot_give_up(const char *tool)
{
	strlcpy(stubborn, tool, sizeof(stubborn));
}

/* lock held */
static void
note_stubborn(void)
{
	StubbornTool *note = &shared->stubborn[shared->next_stubborn];

	shared->next_stubborn = (shared->next_stubborn + 1) % lengthof(shared->stubborn);
	note->execution = self->execution;
	note->worker_no = self->worker_no;
	strlcpy(note->name, stubborn, sizeof(note->name));
}

char *
slot_stubborn_tool(const pg_uuid_t *execution, int worker_no)
{
	char	   *name = NULL;
	int			i;

	LWLockAcquire(shared->lock, LW_SHARED);
	for (i = 0; i < lengthof(shared->stubborn); i++)
	{
		StubbornTool *note = &shared->stubborn[i];

		if (worker_no != 0 && note->worker_no == worker_no &&
			memcmp(&note->execution, execution, sizeof(pg_uuid_t)) == 0)
			name = pstrdup(note->name);
	}
	unlock();
	return name;
}

/*
 * Also at FATAL.  Claims that are still held can be given back by anyone once
 * this number is no longer alive, so the database is marked as having work.
 */
static void
detach(int code, Datum arg)
{
	DatabaseSlot *database;

	lock();
	database = shmem_database(self->database);
	if (database != NULL && self->holds_claims)
	{
		database->work = true;
		database->last_repair = 0;
	}
	if (database != NULL && looks_for_due)
		database->next_due = GetCurrentTimestamp(); /* nobody knows: look again */
	if (stubborn[0] != '\0' && self->running)
		note_stubborn();
	if (!served && !ShutdownRequestPending)
		shmem_postpone(self->database);
	memset(self, 0, sizeof(WorkerSlot));

	/* the launcher looks what is left to do, and for whom the place is free */
	shmem_poke_launcher();
	unlock();
}

bool
slot_attach(int index, int worker_no, Oid *database)
{
	WorkerSlot *slot = &shared->workers[index];
	bool		ours;

	lock();
	ours = slot->state == SLOT_STARTING && slot->worker_no == worker_no && slot->pid == 0;
	if (ours)
	{
		slot->pid = MyProcPid;
		slot->latch = MyLatch;
		slot->state = SLOT_BUSY;
		slot->since = slot->started_at = slot->ran_at = GetCurrentTimestamp();
		*database = slot->database;
	}
	unlock();
	if (!ours)
		return false;
	self = slot;
	before_shmem_exit(detach, 0);
	return true;
}

int
slot_worker_no(void)
{
	return self->worker_no;
}

bool
slot_must_leave(void)
{
	return ShutdownRequestPending || self->leave;
}

bool
slot_should_leave(void)
{
	return slot_must_leave() || self->yield || !guc_enabled;
}

void
slot_retire(void)
{
	lock();
	self->yield = true;
	unlock();
}

void
slot_leave(void)
{
	leaves_claims = true;
	lock();
	self->leave = true;
	unlock();
}

/* read without the lock first: this runs once a turn of every loop */
bool
slot_take_attention(void)
{
	bool		wanted = put_off;

	put_off = false;
	if (!self->attention)
		return wanted;
	lock();
	wanted |= self->attention;
	self->attention = false;
	unlock();
	return wanted;
}

void
slot_put_off_attention(void)
{
	put_off = slot_take_attention();
}

bool
slot_is_wanted(void)
{
	return self != NULL && (slot_must_leave() || self->attention);
}

static void
enter(WorkerState state)
{
	if (self->state != state)
		self->since = GetCurrentTimestamp();
	self->state = state;
}

void
slot_leaves_work(void)
{
	DatabaseSlot *database;

	lock();
	database = shmem_database(self->database);
	if (database != NULL)
		database->work = true;
	unlock();
}

bool
slot_idle(void)
{
	DatabaseSlot *database;
	bool		idle;

	lock();
	database = shmem_database(self->database);
	idle = database == NULL || !database->work;
	if (idle)
		enter(SLOT_IDLE);
	unlock();
	return idle;
}

void
slot_claiming(void)
{
	DatabaseSlot *database;

	lock();
	enter(SLOT_BUSY);
	database = shmem_database(self->database);
	if (database != NULL)
	{
		if (database->probe)
			database->last_repair = 0;	/* what falls due isn't known either */
		database->work = false;
		database->watched = false;
		database->probe = false;
		database->failures = 0;
	}
	served = true;
	unlock();
}

void
slot_holds(bool claims)
{
	lock();
	self->holds_claims = claims || leaves_claims;
	unlock();
}

void
slot_keeps(void)
{
	lock();
	self->kept_at = GetCurrentTimestamp();
	unlock();
}

void
slot_running(const pg_uuid_t *execution)
{
	lock();
	self->running = true;
	self->execution = *execution;
	unlock();
}

void
slot_ran(bool ran)
{
	lock();
	self->running = false;
	self->ran_at = GetCurrentTimestamp();
	if (ran)
		self->executions++;
	unlock();
}

void
slot_ask_for_help(void)
{
	DatabaseSlot *database;

	lock();
	database = shmem_database(self->database);
	if (database != NULL)
		database->work = true;
	if (!shmem_wake_worker(self->database))
		shmem_poke_launcher();
	unlock();
}

bool
slot_may_repair(void)
{
	DatabaseSlot *database;
	TimestampTz now = GetCurrentTimestamp();
	bool		may = false;

	lock();
	database = shmem_database(self->database);
	if (database != NULL &&
		(now >= database->last_repair + Max(database->repair_pause, REPAIR_INTERVAL_US) ||
		 now >= database->next_due))
	{
		database->last_repair = now;
		may = true;
	}
	unlock();
	return may;
}

TimestampTz
slot_next_due(void)
{
	DatabaseSlot *database;
	TimestampTz due = DT_NOEND;

	lock();
	database = shmem_database(self->database);
	if (database != NULL)
		due = database->next_due;
	unlock();
	return due;
}

void
slot_begin_due(void)
{
	DatabaseSlot *database;

	lock();
	database = shmem_database(self->database);
	if (database != NULL)
		database->next_due = DT_NOEND;
	looks_for_due = true;
	looks_since = GetCurrentTimestamp();
	unlock();
}

void
slot_end_due(TimestampTz due, bool worked)
{
	DatabaseSlot *database;

	lock();
	database = shmem_database(self->database);
	if (database != NULL && due < database->next_due)
		database->next_due = due;
	if (database != NULL && looks_for_due)
	{
		int64		took = GetCurrentTimestamp() - looks_since;

		database->repair_pause = worked ? 0 : Min(took * REPAIR_SHARE, REPAIR_INTERVAL_MAX_US);
	}
	looks_for_due = false;
	unlock();
}
