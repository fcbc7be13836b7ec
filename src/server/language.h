/*
 * language.h
 *		What is run that the server doesn't report: the languages of a tool, and
 *		attempts to put work off until somebody else does it.
 *
 * Interpreters such as PL/Python and PL/Perl keep global data for as long as
 * the process lives, and so hand what one role left there to the next.  A
 * process that ran one of them for a role can serve only that role.
 */
#ifndef SANDBOX_EXEC_LANGUAGE_H
#define SANDBOX_EXEC_LANGUAGE_H

/*
 * From now on note what the tool of that role runs, at any depth.  Functions of
 * the languages internal, c, sql and plpgsql leave nothing behind.  Statements
 * that change roles are ERROR 42501.
 */
extern void language_watch(Oid submitter, const char *owner);

/* no tool runs any more */
extern void language_unwatch(void);

/* from now on, or no longer, SET CONSTRAINTS DEFERRED is an ERROR */
extern void language_forbid_deferring(bool forbid);

/* false: this process belongs to another role or owner, for good */
extern bool language_may_serve(Oid submitter, const char *owner);

/*
 * The same for a worker, which is easily replaced: it belongs to a role also when
 * that left names of settings behind.
 */
extern bool language_worker_may_serve(Oid submitter, const char *owner);

#endif
