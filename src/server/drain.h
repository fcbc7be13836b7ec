/*
 * drain.h
 *		Has drain() stopped claims in this database?
 */
#ifndef SANDBOX_EXEC_DRAIN_H
#define SANDBOX_EXEC_DRAIN_H

extern bool drain_is_on(void);

#endif
