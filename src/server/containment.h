/*
 * containment.h
 *		A tool runs as the role that submitted its execution, and what it does
 *		to the session ends with it.
 *
 *		containment_enter(tool)
 *			containment_put_on(tool)	 in a subtransaction, as the first thing
 *				... run it ...
 *			containment_take_off()		 in the same subtransaction, as the last
 *		containment_leave()				 on every path, after the subtransaction
 *
 * Between enter and leave containment_in_tool() is true, and what tool points
 * to has to stay.  An ERROR in between
 * needs a rollback of the subtransaction and then containment_leave(), whether
 * or not take_off was reached.
 */
#ifndef SANDBOX_EXEC_CONTAINMENT_H
#define SANDBOX_EXEC_CONTAINMENT_H

/* as whom and for what */
typedef struct Containment
{
	Oid			submitter;
	bool		trusted;		/* effective user is the extension's owner */
	bool		own_search_path;	/* the function pins its own: no need to find one */
	const char *execution_id;
	const char *owner;
	const char *org_id;			/* or NULL */
	const char *thread_id;		/* or NULL */
} Containment;

extern void containment_enter(const Containment *tool);
extern void containment_put_on(const Containment *tool);

/*
 * ERROR when the tool made something temporary.  Then the settings are the
 * session's again.
 */
extern void containment_take_off(void);

/* identity, advisory locks, sequences, random seed: as if it had not run */
extern void containment_leave(void);

/*
 * That function of ours, though VOLATILE, told nobody this time; InvalidOid: it
 * may have.  Whether it was the last that said so; to be asked about a tool
 * itself, for others that it calls may have told somebody.
 */
extern void containment_note_quiet(Oid function);
extern bool containment_was_quiet(Oid function);

/* a tool is on this session's stack */
extern bool containment_in_tool(void);

/* the execution that it works for, and for whom that is; NULL: none is */
extern const char *containment_execution(void);
extern const char *containment_owner(void);

/*
 * ERROR 55000 when a tool is: code must not operate its own queue.  function is
 * what was called, with parentheses.
 */
extern void containment_refuse_in_tool(const char *function);

/*
 * Before the caller becomes somebody else: triggers that the caller deferred
 * run, as the caller.  ERROR 55000 in a session that has something a tool would
 * take along; function is what was called.  Workers never have either.
 */
extern void containment_settle_session(const char *function);

#endif
