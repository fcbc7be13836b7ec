/*
 * wakeup.h
 *		What a transaction wakes when it commits.
 *
 * Each function only notes the wish; it comes true after commit, when others
 * can see the rows, and is forgotten at abort.  A wish of a rolled back
 * subtransaction may come true: waking in vain is harmless.  PREPARE forgets
 * too (its COMMIT PREPARED may come from anywhere; hooks.c wakes all then).
 *
 * Without shared memory nothing happens: there are no workers, and waiters
 * poll.
 */
#ifndef SANDBOX_EXEC_WAKEUP_H
#define SANDBOX_EXEC_WAKEUP_H

#include "datatype/timestamp.h"
#include "shmem.h"
#include "utils/uuid.h"

/* rows of this database became ready: that one, or any */
extern void wakeup_ready(const ClaimKey *key);
extern void wakeup_work(void);

/* something of this database falls due then */
extern void wakeup_due(TimestampTz at);

/* the log of an execution grew: wake who reads it */
extern void wakeup_readers(const pg_uuid_t *id);

/* an execution ended or paused: wake who waits for it, and who reads its log */
extern void wakeup_waiters(const pg_uuid_t *id);

/*
 * The same, and NOTIFY the configured channel in this transaction, unless
 * muted: the NOTIFY may fail the transaction when its queue is full.
 */
extern void wakeup_announce(const pg_uuid_t *id, const char *status);
extern void wakeup_mute_notify(bool mute);

/* a claim of that worker was cancelled */
extern void wakeup_attention(int worker_no);

/* this database gained or lost the extension, or the list of databases changed */
extern void wakeup_probe(void);
extern void wakeup_rescan(void);

/* at once, whatever this transaction does: wake everybody of this database */
extern void wakeup_everybody(void);

#endif
