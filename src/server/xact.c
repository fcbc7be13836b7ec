/*
 * xact.c
 *		A worker's transactions.
 *
 * DROP EXTENSION locks the extension object first and its tables after; a
 * worker that locked tables first would deadlock with it.  So each transaction
 * takes the object's lock before anything else, and does not wait for it: a
 * transaction that has it exclusively is about to make us superfluous, or to
 * change us under way, and may stay open for as long as its client likes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_extension.h"
#include "executor/spi.h"
#include "extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "shmem.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "xact.h"

static char last_message[REASON_SIZE];
static int	last_sqlerrcode = 0;
static int	logged_sqlerrcode = 0;
static TimestampTz logged_at = 0;

/* the same SQLSTATE is not logged again within this time */
#define QUIET_MS (60 * 1000)

/*
 * A shutdown lets a transaction finish, but not one that takes longer than this:
 * it may wait for a standby that never answers.
 */
#define PATIENCE_MS 2000

static TimeoutId patience;
static volatile sig_atomic_t in_transaction = false;
static volatile sig_atomic_t patience_over = false;

static void
die_if_asked(void)
{
	if (!in_transaction || !patience_over || !ShutdownRequestPending)
		return;
	InterruptPending = true;
	ProcDiePending = true;
	SetLatch(MyLatch);
}

static void
run_out_of_patience(void)
{
	patience_over = true;
	die_if_asked();
}

static void
handle_sigterm(SIGNAL_ARGS)
{
	int			save_errno = errno;

	ShutdownRequestPending = true;
	SetLatch(MyLatch);
	die_if_asked();
	errno = save_errno;
}

void
xact_handle_signals(void)
{
	pqsignal(SIGTERM, handle_sigterm);
}

void
xact_check_interrupts(void)
{
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
}

/* the extension's oid, and whether its version is ours; InvalidOid when absent */
static Oid
find_extension(bool *known_version)
{
	Extension	extension = extension_look();

	*known_version = extension.known_version;
	return extension.oid;
}

/* for health; ALTER EXTENSION unsays it, and whoever looks next says it anew */
static void
note_version(bool known)
{
	static bool was_known = true;
	static bool noted = false;
	DatabaseSlot *database;

	if (noted && known == was_known)
		return;
	noted = true;
	was_known = known;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	database = shmem_known_database(MyDatabaseId);
	if (database != NULL)
		database->other_version = !known;
	LWLockRelease(shared->lock);
}

/*
 * Share the extension's lock and then look: before the lock, another may drop it,
 * or drop it and make it anew.  The oid is the one that was found last time, so
 * that the usual transaction looks once.
 */
static XactResult
lock_extension(void)
{
	static Oid	locked = InvalidOid;
	bool		known_version = false;
	Oid			oid = OidIsValid(locked) ? locked : find_extension(&known_version);
	Oid			found;
	LOCKTAG		tag;

	if (!OidIsValid(oid))
		return XACT_GONE;
	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, oid, 0);
	if (LockAcquire(&tag, AccessShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return XACT_HELD;
	AcceptInvalidationMessages();
	found = find_extension(&known_version);
	if (found != oid)
	{
		locked = InvalidOid;
		return OidIsValid(found) ? XACT_HELD : XACT_GONE;
	}
	locked = oid;
	note_version(known_version);
	return known_version ? XACT_DONE : XACT_GONE;
}

static void
begin(void)
{
	static bool registered = false;

	if (!registered)
		patience = RegisterTimeout(USER_TIMEOUT, run_out_of_patience);
	registered = true;
	patience_over = false;
	in_transaction = true;
	enable_timeout_after(patience, PATIENCE_MS);
	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, "sandbox_exec: reads or writes the queue, or runs a tool");
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
}

/* forget the transaction, keep the error's text, log it if it is news */
static void
recover(MemoryContext outside)
{
	ErrorData  *error;

	MemoryContextSwitchTo(outside);
	error = CopyErrorData();
	strlcpy(last_message, error->message ? error->message : "", sizeof(last_message));
	last_sqlerrcode = error->sqlerrcode;
	if (error->sqlerrcode != logged_sqlerrcode ||
		TimestampDifferenceExceeds(logged_at, GetCurrentTimestamp(), QUIET_MS))
	{
		logged_sqlerrcode = error->sqlerrcode;
		logged_at = GetCurrentTimestamp();
		EmitErrorReport();
	}
	FlushErrorState();
	FreeErrorData(error);
	AbortCurrentTransaction();
	MemoryContextSwitchTo(outside);
}

XactResult
xact_run(XactBody body, void *arg)
{
	MemoryContext outside = CurrentMemoryContext;
	volatile XactResult result = XACT_GONE;

	last_sqlerrcode = 0;
	last_message[0] = '\0';
	PG_TRY();
	{
		begin();
		result = lock_extension();
		if (result == XACT_DONE)
		{
			SPI_connect();
			body(arg);
			SPI_finish();
		}
		PopActiveSnapshot();
		CommitTransactionCommand();
		pgstat_report_stat(false);
	}
	PG_CATCH();
	{
		recover(outside);
		result = XACT_FAILED;
	}
	PG_END_TRY();
	pgstat_report_activity(STATE_IDLE, NULL);
	in_transaction = false;
	disable_timeout(patience, false);
	MemoryContextSwitchTo(outside);
	return result;
}

void
xact_commit_asynchronously(void)
{
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

bool
xact_may_pass(void)
{
	switch (ERRCODE_TO_CATEGORY(last_sqlerrcode))
	{
		case 0:
		case MAKE_SQLSTATE('5', '3', '0', '0', '0'):	/* insufficient resources */
		case MAKE_SQLSTATE('5', '5', '0', '0', '0'):	/* not in prerequisite state */
		case MAKE_SQLSTATE('5', '7', '0', '0', '0'):	/* operator intervention */
		case MAKE_SQLSTATE('5', '8', '0', '0', '0'):	/* system error */
		case MAKE_SQLSTATE('4', '0', '0', '0', '0'):	/* transaction rollback */
		case MAKE_SQLSTATE('2', '5', '0', '0', '0'):	/* read-only */
			return true;
		default:
			return false;
	}
}

const char *
xact_last_error(int *sqlerrcode)
{
	*sqlerrcode = last_sqlerrcode;
	return last_message;
}
