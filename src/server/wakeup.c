/*
 * wakeup.c
 *		Collects wake-ups during a transaction and delivers them at commit.
 *
 * One callback is registered per backend, at first use, and stays: callbacks
 * cannot be withdrawn safely while they run.  At XACT_EVENT_COMMIT the
 * transaction's effects are visible to everybody, so whoever wakes sees them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "bound.h"
#include "commands/async.h"
#include "guc.h"
#include "miscadmin.h"
#include "shmem.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "wakeup.h"

#define MAX_ATTENTION 32

/* what the current transaction wants; all zero when it wants nothing */
static struct
{
	bool		any;
	bool		work;
	bool		probe;
	bool		rescan;
	ClaimKey	ready;			/* the first row that became ready, if work */
	bool		due_known;
	TimestampTz due;
	uint64		waits[WAIT_SLOTS / 64]; /* a bit a wait slot */
	int			attention_count;	/* beyond MAX_ATTENTION: every worker */
	int			attention[MAX_ATTENTION];
} wanted;

static bool notify_muted = false;

static bool
attention_wanted(int worker_no)
{
	int			i;

	if (wanted.attention_count > MAX_ATTENTION)
		return true;
	for (i = 0; i < wanted.attention_count; i++)
		if (wanted.attention[i] == worker_no)
			return true;
	return false;
}

static void
deliver_attention(void)
{
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];

		if (slot->latch == NULL || slot->database != MyDatabaseId ||
			!attention_wanted(slot->worker_no))
			continue;
		slot->attention = true;
		SetLatch(slot->latch);
	}
}

/* the lock is held */
static void
deliver_to_database(void)
{
	DatabaseSlot *slot = shmem_database(MyDatabaseId);
	bool		news;

	if (slot == NULL)
		return;
	news = wanted.work && !slot->watched;
	if (wanted.work)
	{
		slot->work = true;
		bound_lower(slot, &wanted.ready);
	}
	if (wanted.probe)
	{
		slot->probe = true;
		slot->other_version = false;	/* until a worker says so again */
		slot->retry_at = 0;
		shmem_poke_launcher();
	}
	if (wanted.due_known && wanted.due < slot->next_due)
	{
		slot->next_due = wanted.due;
		news = true;
	}
	else if (!wanted.work)
		return;

	/* either may do: an idle worker computes anew how long it may sleep */
	if (!shmem_wake_worker(MyDatabaseId) && news)
		shmem_poke_launcher();
}

static void
deliver(void)
{
	int			i;

	if (wanted.work || wanted.due_known || wanted.probe || wanted.rescan ||
		wanted.attention_count > 0)
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		if (wanted.work || wanted.due_known || wanted.probe)
			deliver_to_database();
		if (wanted.attention_count > 0)
			deliver_attention();
		if (wanted.rescan)
		{
			shared->rescan = true;
			shmem_poke_launcher();
		}
		LWLockRelease(shared->lock);
	}
	for (i = 0; i < WAIT_SLOTS; i++)
		if (wanted.waits[i / 64] & (UINT64CONST(1) << (i % 64)))
			shmem_wake_waiters(i);
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (!wanted.any)
		return;
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			deliver();
			memset(&wanted, 0, sizeof(wanted));
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			memset(&wanted, 0, sizeof(wanted));
			break;
		default:
			break;
	}
}

/* true when a wish can come true at all */
static bool
want(void)
{
	static bool registered = false;

	if (shared == NULL)
		return false;
	if (!registered)
	{
		RegisterXactCallback(at_transaction_end, NULL);
		registered = true;
	}
	wanted.any = true;
	return true;
}

void
wakeup_ready(const ClaimKey *key)
{
	if (!want())
		return;
	if (!wanted.work || bound_precedes(key, &wanted.ready))
		wanted.ready = *key;
	wanted.work = true;
}

void
wakeup_work(void)
{
	wakeup_ready(&bound_first);
}

void
wakeup_due(TimestampTz at)
{
	if (!want())
		return;
	if (!wanted.due_known || at < wanted.due)
		wanted.due = at;
	wanted.due_known = true;
}

static void
want_wake(const pg_uuid_t *id, Awaited what)
{
	int			slot = shmem_wait_slot(id, what);

	wanted.waits[slot / 64] |= UINT64CONST(1) << (slot % 64);
}

void
wakeup_readers(const pg_uuid_t *id)
{
	if (want())
		want_wake(id, AWAIT_LOG);
}

void
wakeup_waiters(const pg_uuid_t *id)
{
	if (!want())
		return;
	want_wake(id, AWAIT_END);
	want_wake(id, AWAIT_LOG);
}

void
wakeup_announce(const pg_uuid_t *id, const char *status)
{
	char	   *payload;

	wakeup_waiters(id);
	if (notify_muted || guc_notify_channel == NULL || guc_notify_channel[0] == '\0')
		return;
	payload = psprintf("{\"id\":\"%s\",\"status\":\"%s\"}",
					   DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(id))),
					   status);
	Async_Notify(guc_notify_channel, payload);
}

void
wakeup_mute_notify(bool mute)
{
	notify_muted = mute;
}

void
wakeup_attention(int worker_no)
{
	if (!want() || wanted.attention_count > MAX_ATTENTION)
		return;
	if (wanted.attention_count < MAX_ATTENTION)
		wanted.attention[wanted.attention_count] = worker_no;
	wanted.attention_count++;
}

void
wakeup_probe(void)
{
	if (want())
		wanted.probe = true;
}

void
wakeup_rescan(void)
{
	if (want())
		wanted.rescan = true;
}

void
wakeup_everybody(void)
{
	DatabaseSlot *slot;
	int			i;

	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = shmem_database(MyDatabaseId);
	if (slot != NULL)
	{
		slot->work = true;
		bound_lower(slot, &bound_first);
		slot->probe = true;		/* it may have brought the extension */
	}
	shmem_wake_worker(MyDatabaseId);
	shmem_poke_launcher();
	LWLockRelease(shared->lock);
	for (i = 0; i < WAIT_SLOTS; i++)
		shmem_wake_waiters(i);
}
