/*
 * hooks.h
 *		Notices the DDL that matters to launcher and workers.
 */
#ifndef SANDBOX_EXEC_HOOKS_H
#define SANDBOX_EXEC_HOOKS_H

/* from _PG_init, when preloaded */
extern void hooks_install(void);

#endif
