/*
 * launcher.h
 *		The one process that decides which database gets a worker.
 */
#ifndef SANDBOX_EXEC_LAUNCHER_H
#define SANDBOX_EXEC_LAUNCHER_H

#include "postmaster/bgworker.h"

/* register it with the postmaster; from _PG_init */
extern void launcher_register(void);

extern PGDLLEXPORT void sandbox_exec_launcher_main(Datum arg);

#endif
