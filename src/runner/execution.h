/*
 * execution.h
 *		The one execution that this process has in hand: what of it lies outside
 *		the Lua state, and how it ends.
 *
 * Everything here is set anew by execution_begin(), so that nothing of one
 * execution reaches the next.
 */
#ifndef SANDBOX_EXEC_EXECUTION_H
#define SANDBOX_EXEC_EXECUTION_H

#include "../protocol/message.h"
#include "../protocol/outlog.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdnoreturn.h>

typedef struct Execution
{
	int64_t		clock_ms;		/* where the logical clock started, Unix ms */
	int64_t		readings;		/* each reading of the clock advances it 1 ms */
	uint32_t	calls;			/* made so far */
	int64_t		seed[2];		/* of math.random, from the id */
	int64_t		memory_limit;	/* bytes; for the message */
	OutlogWriter output;

	/* the outcome; texts lie in the buffers below or are constants */
	DoneMessage outcome;
	char		error_code[MAX_ERROR_CODE_BYTES];
	char		error[MAX_ERROR_BYTES];

	/*
	 * os.exit and the memory limit leave from wherever the code stands.  That
	 * skips C frames of Lua, which is sound as nothing they hold outlives the
	 * state, and the state is dropped.
	 */
	jmp_buf		end;
} Execution;

extern Execution current;

/* start over for this request, printing into area */
extern void execution_begin(const RunMessage *request, void *area);

/* milliseconds since the logical clock started; advances it */
extern int64_t execution_read_clock(void);

/* the logical clock goes on from that time, Unix ms; it never goes back */
extern void execution_set_clock(int64_t now_ms);

/* append to what the code printed */
extern void execution_print(OutlogStream stream, const char *text, size_t length);

/* set the outcome; error text is sanitized and clipped */
extern void execution_succeed(const char *result, size_t length);	/* result NULL: none */
extern void execution_fail(const char *code, int exit_code, const char *text, size_t length);

/* the outcome is set: leave for where current.end was set */
extern noreturn void execution_end(void);

/* the arena's handler: fail with memory_limit and end */
extern noreturn void execution_out_of_memory(void);

#endif
