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
#include "json_read.h"
#include "json_write.h"
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
exchange(const CallMessage *call, ReturnMessage *answer)
{
	FrameReader payload;

	peer_send(message_put_call(peer_outbox, PEER_OUTBOX_SIZE, call));
	peer_receive(MESSAGE_RETURN, &payload);
	if (!message_get_return(&payload, answer))
		_exit(RUNNER_EXIT_USAGE);
	if (answer->clock_ms != 0)
		execution_set_clock(answer->clock_ms);
}

void
calls_make(lua_State *L, const char *kind, const char *name, int args_index)
{
	CallMessage call;
	ReturnMessage answer;

	luaL_checkstack(L, 8, "too many nested calls");
	check_name(L, kind, name);
	call.args = encode_args(L, name, args_index);
	call.seq = ++current.calls;
	call.kind.data = kind;
	call.kind.length = (uint32_t) strlen(kind);
	call.name.data = name;
	call.name.length = (uint32_t) strlen(name);
	exchange(&call, &answer);
	push_value(L, answer.value);
	if (answer.status != RETURN_OK)
		lua_error(L);
}
