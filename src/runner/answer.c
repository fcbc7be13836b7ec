/*
 * answer.c
 *		What the worker answered to a call, from its arrival to its delivery.
 *
 * Held values lie in one buffer in the order of their arrival.  Delivered ones
 * leave gaps, which are closed when room is needed.
 */
#include "answer.h"
#include "error_codes.h"
#include "execution.h"
#include "json_read.h"

#include "lauxlib.h"

#include <stdio.h>
#include <string.h>

#define HELD_MAX ((size_t) 16 * 1024 * 1024)

static char held_text[HELD_MAX];
static Answer *first_held;
static size_t touched;

void
answer_reset(void)
{
	first_held = NULL;
}

size_t
answer_touched(void)
{
	return touched;
}

/* ------------------------------------------------------------------------
 * Holding
 * ------------------------------------------------------------------------ */

/* the link that ends the list; *used is what lies before the free rest */
static Answer **
find_end(size_t *used)
{
	Answer	  **link = &first_held;

	*used = 0;
	while (*link != NULL)
	{
		FrameText	value = (*link)->message.value;

		*used = (size_t) (value.data - held_text) + value.length;
		link = &(*link)->next;
	}
	return link;
}

static void
close_gaps(void)
{
	char	   *at = held_text;

	for (Answer *answer = first_held; answer != NULL; answer = answer->next)
	{
		FrameText  *value = &answer->message.value;

		memmove(at, value->data, value->length);
		value->data = at;
		at += value->length;
	}
}

/* Whether this happens depends on what is held, so catching it can't be allowed. */
static void
too_much_is_held(void)
{
	char		text[100];
	int			n = snprintf(text, sizeof(text), "answers that branches wait for exceed %zu kB",
							 HELD_MAX / 1024);

	execution_fail(ERROR_MEMORY, 1, text, (size_t) n);
	execution_end();
}

void
answer_hold(Answer *answer)
{
	FrameText  *value = &answer->message.value;
	size_t		used;
	Answer	  **end;

	if (value->data == NULL)
		return;
	end = find_end(&used);
	if (value->length > HELD_MAX - used)
	{
		close_gaps();
		end = find_end(&used);
	}
	if (value->length > HELD_MAX - used)
		too_much_is_held();
	memcpy(held_text + used, value->data, value->length);
	value->data = held_text + used;
	answer->next = NULL;
	*end = answer;
	if (used + value->length > touched)
		touched = used + value->length;
}

/* The text stays as it is until the next one is held. */
static void
let_go(Answer *answer)
{
	for (Answer **link = &first_held; *link != NULL; link = &(*link)->next)
		if (*link == answer)
		{
			*link = answer->next;
			return;
		}
}

/* ------------------------------------------------------------------------
 * Delivering
 * ------------------------------------------------------------------------ */

/*
 * Answers that weren't journaled have no number and come first; that they are
 * the same in every attempt is the worker's promise.
 */
bool
answer_is_before(const Answer *answer, const Answer *other)
{
	if (answer->message.status == RETURN_PENDING)
		return false;
	if (other == NULL || answer->message.delivered_no < other->message.delivered_no)
		return true;
	return answer->message.delivered_no == other->message.delivered_no && answer->seq < other->seq;
}

static void
push_value(lua_State *L, FrameText value)
{
	const char *why;
	size_t		at;

	if (value.data == NULL || (value.length == 4 && memcmp(value.data, "null", 4) == 0))
		lua_pushnil(L);
	else if (!json_read(L, value.data, value.length, true, &why, &at))
		luaL_error(L, "the answer cannot be read: %s", why);
}

/*
 * The clock moves now and not when the answer arrived, since between the two
 * other branches have read it.
 */
void
answer_deliver(lua_State *L, Answer *answer)
{
	let_go(answer);
	if (answer->message.clock_ms != 0)
		execution_set_clock(answer->message.clock_ms);
	push_value(L, answer->message.value);
	if (answer->message.status == RETURN_ERROR)
		lua_error(L);
}
