/*
 * xact.h
 *		A worker's transactions: short, guarded, never open while it waits.
 */
#ifndef SANDBOX_EXEC_XACT_H
#define SANDBOX_EXEC_XACT_H

typedef enum XactResult
{
	XACT_DONE,					/* committed */
	XACT_GONE,					/* the extension is not there, or is of a version
								 * that this library does not know */
	XACT_HELD,					/* a transaction that drops or alters the
								 * extension is open; try again later */
	XACT_FAILED					/* rolled back after an ERROR, which was logged */
} XactResult;

/* the body: runs inside the transaction with SPI connected */
typedef void (*XactBody)(void *arg);

/*
 * Run body in a transaction of its own, after sharing the extension's lock with
 * everybody but DROP and ALTER EXTENSION and making sure that it is still the
 * extension this worker serves.  An ERROR is caught, logged (repeats of
 * the same SQLSTATE are silent for a minute), and reported as
 * XACT_FAILED; xact_last_error tells its text.  What body allocates in
 * CurrentMemoryContext goes with the transaction.
 */
extern XactResult xact_run(XactBody body, void *arg);

/* in a body: this transaction need not be on disk when it is over */
extern void xact_commit_asynchronously(void);

/*
 * Install the handler of SIGTERM.  It sets ShutdownRequestPending, which ends
 * what goes on between transactions; one transaction may finish, but is
 * ended, with its process, when it takes long.
 */
extern void xact_handle_signals(void);

/*
 * Outside of transactions.  A request to cancel is for a statement, and there is
 * none: it is forgotten.
 */
extern void xact_check_interrupts(void);

/*
 * Whether the last one failed, if it did, for a reason that may be gone soon: no
 * room, a lock, an I/O error, a server that is read-only for now.
 */
extern bool xact_may_pass(void);

/* message and SQLSTATE of the last XACT_FAILED */
extern const char *xact_last_error(int *sqlerrcode);

#endif
