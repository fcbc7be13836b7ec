/*
 * failure.h
 *		What the code gets when a tool fails: an object that it can catch.
 *
 *		{"code", "message", "tool", "sqlstate", "detail", "hint"}
 *
 * Texts are cut so that the object stays below 64 kB.  Members that have no
 * value are null.
 */
#ifndef SANDBOX_EXEC_FAILURE_H
#define SANDBOX_EXEC_FAILURE_H

/* how our own functions say that there is no such thing, or too much of it */
#define SQLSTATE_NOT_FOUND MAKE_SQLSTATE('S', 'X', '0', '0', '3')
#define SQLSTATE_TOO_LARGE MAKE_SQLSTATE('S', 'X', '0', '0', '5')

typedef struct Failure
{
	const char *code;			/* tool_failed and the others of docs/reference.md */
	const char *message;
	const char *detail;			/* or NULL */
	const char *hint;			/* or NULL */
	int			sqlerrcode;		/* 0: none */
} Failure;

/* the object as JSON text, in the current context */
extern char *failure_text(const char *tool, const Failure *failure);

/*
 * The object of an ERROR that a tool raised.  An internal fault (class XX) goes
 * to the server log, and the object only has the number to find it by.
 */
extern char *failure_of_error(const char *tool, const ErrorData *error);

#endif
