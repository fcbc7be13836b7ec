/*
 * calls.c
 *		What the code asks from outside.
 *
 * Nothing here knows what a call does or whether its answer is new: the worker
 * may run it, or return what an earlier attempt was told.  So a program that
 * asks the same questions in the same order goes the same way.
 */
#include "calls.h"
#include "execution.h"
#include "json_write.h"
#include "parallel.h"
#include "peer.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <string.h>
#include <unistd.h>

static char args_text[MAX_CALL_ARGS_BYTES];

static void
set_text(lua_State *L, const char *field, const char *text)
{
	lua_pushstring(L, text);
	lua_setfield(L, -2, field);
}

int
calls_error(lua_State *L, const char *code, const char *tool, const char *message)
{
	lua_createtable(L, 0, 3);
	set_text(L, "code", code);
	if (tool != NULL)
		set_text(L, "tool", tool);
	set_text(L, "message", message);
	return lua_error(L);
}

/*
 * Arguments have names: a table is written as an object, or refused.  Where Lua
 * wants an integer it takes 5.0 for 5; the server's integers would not.
 */
static FrameText
encode_args(lua_State *L, const char *name, int index)
{
	JsonText	writer;
	FrameText	args = {NULL, 0};

	if (index == 0 || lua_isnoneornil(L, index))
		return args;
	if (!lua_istable(L, index))
		calls_error(L, "invalid_tool_arguments", name,
					lua_pushfstring(L, "arguments must be a table with names, not a %s",
									luaL_typename(L, index)));
	json_text_fixed(&writer, L, args_text, sizeof(args_text));
	writer.whole = true;
	if (!json_write(&writer, index))
		calls_error(L, "invalid_tool_arguments", name, writer.message);
	if (json_text_stored(&writer) > MAX_CALL_ARGS_BYTES)
		calls_error(L, "invalid_tool_arguments", name,
					lua_pushfstring(L, "arguments are too large: %I bytes; the limit is %d",
									(lua_Integer) json_text_stored(&writer), MAX_CALL_ARGS_BYTES));
	args.data = args_text;
	args.length = (uint32_t) writer.length;
	if (args.length == 2 && args_text[0] == '[')
		args.data = "{}";
	else if (args_text[0] != '{')
		calls_error(L, "invalid_tool_arguments", name,
					"arguments must have names, such as {id = 7}");
	return args;
}

/* names that the server would refuse name nothing: nobody need be asked */
static void
check_name(lua_State *L, const char *kind, const char *name)
{
	size_t		length = strlen(name);
	size_t		chars = 0;

	for (size_t i = 0; i < length; i++)
		chars += ((unsigned char) name[i] & 0xC0) != 0x80;
	if (chars < 1 || chars > MAX_CALL_NAME_CHARS || !utf8_valid(name, length))
		calls_error(L, strcmp(kind, "tool") == 0 ? "tool_not_found" : "module_not_found", NULL,
					lua_pushfstring(L, "%s names have 1 to %d characters", kind, MAX_CALL_NAME_CHARS));
}

static void
exchange(const CallMessage *call, Answer *answer)
{
	FrameReader payload;

	peer_send(message_put_call(peer_outbox, PEER_OUTBOX_SIZE, call));
	peer_receive(MESSAGE_RETURN, &payload);
	answer->seq = call->seq;
	if (!message_get_return(&payload, &answer->message))
		_exit(RUNNER_EXIT_USAGE);
}

/* ------------------------------------------------------------------------
 * Making a call
 * ------------------------------------------------------------------------ */

static int
return_value(lua_State *L)
{
	(void) L;
	return 1;
}

/* it is the turn of the branch that made the call */
static int
go_on(lua_State *L, int status, lua_KContext context)
{
	(void) status;
	answer_deliver(L, parallel_place(L));
	return ((CallFinish) context)(L);
}

int
calls_make(lua_State *L, const char *kind, const char *name, int args_index, CallFinish finish)
{
	CallMessage call;
	Answer		answer;
	Answer	   *place = parallel_place(L);

	luaL_checkstack(L, 8, "too many nested calls");
	check_name(L, kind, name);
	call.args = encode_args(L, name, args_index);
	call.seq = ++current.calls;
	call.kind.data = kind;
	call.kind.length = (uint32_t) strlen(kind);
	call.name.data = name;
	call.name.length = (uint32_t) strlen(name);
	if (finish == NULL)
		finish = return_value;
	if (place != NULL)
	{
		exchange(&call, place);
		answer_hold(place);
		return parallel_park(L, (lua_KContext) finish, go_on);
	}
	exchange(&call, &answer);
	if (answer.message.status == RETURN_PENDING)
		peer_suspend();
	answer_deliver(L, &answer);
	return finish(L);
}
