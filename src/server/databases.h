/*
 * databases.h
 *		The launcher's list of databases, from the shared catalog.
 */
#ifndef SANDBOX_EXEC_DATABASES_H
#define SANDBOX_EXEC_DATABASES_H

/*
 * Forget the slots of databases that are gone, and have those that are new (or
 * all) looked at.  Runs a transaction.
 */
extern void databases_rescan(bool probe_all);

#endif
