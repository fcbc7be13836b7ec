/*
 * repair.h
 *		What a worker does for the queue as a whole.
 */
#ifndef SANDBOX_EXEC_REPAIR_H
#define SANDBOX_EXEC_REPAIR_H

#include "xact.h"

/*
 * Give back what others lost, promote what is due, publish what comes next; at
 * most once a second a database, or when something falls due.  *worked says
 * whether there was anything.  In transactions of its own.
 */
extern XactResult repair_if_due(bool *worked);

/* ms until it may be called again with effect, one second at most */
extern long repair_due_in(void);

#endif
