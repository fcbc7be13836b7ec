/*
 * answer.h
 *		What the worker answered to a call, from its arrival to its delivery.
 *
 * Outside of parallel both are the same moment.  The answer of a call in a
 * branch is held until it is the branch's turn, and it is held outside of Lua's
 * memory: where tables lie, and when garbage is collected, must not tell whether
 * an answer was there at once or only for a later attempt.
 */
#ifndef SANDBOX_EXEC_ANSWER_H
#define SANDBOX_EXEC_ANSWER_H

#include "../protocol/message.h"

#include "lua.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Answer
{
	uint32_t	seq;			/* of its call */
	ReturnMessage message;		/* its value lies in the peer's inbox, or is held */
	struct Answer *next;		/* the one that was held after this */
} Answer;

/* a new execution: nothing is held */
extern void answer_reset(void);

/*
 * Keep the value beyond the next message, until answer_deliver().  The answer
 * stays where it is until then.  Ends the execution when too much is held.
 */
extern void answer_hold(Answer *answer);

/* it has come, and it is to reach the code before the other */
extern bool answer_is_before(const Answer *answer, const Answer *other);

/*
 * Push the value, null as nil, or raise it when it is an error.  The logical
 * clock goes on from when it was given.  Not for a pending one.
 */
extern void answer_deliver(lua_State *L, Answer *answer);

/* bytes of memory that were touched by holding */
extern size_t answer_touched(void);

#endif
