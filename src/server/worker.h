/*
 * worker.h
 *		A worker process: one database, one execution at a time.
 */
#ifndef SANDBOX_EXEC_WORKER_H
#define SANDBOX_EXEC_WORKER_H

#include "postmaster/bgworker.h"

/*
 * Fill in the registration of a worker that will attach to the reserved slot
 * shared->workers[index] under that number.
 */
extern void worker_describe(BackgroundWorker *worker, int index, int worker_no);

/* its entry point; bgw_main_arg is the slot's index, bgw_extra its number */
extern PGDLLEXPORT void sandbox_exec_worker_main(Datum arg);

#endif
