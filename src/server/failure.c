/*
 * failure.c
 *		What the code gets when a tool fails.
 */
#include "postgres.h"

#include "failure.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/json.h"

/* bytes; JSON may need six for one, and the object must fit into 64 kB */
#define MESSAGE_MAX 4000
#define DETAIL_MAX 4000
#define HINT_MAX 1000

#define CLASS_INTERNAL MAKE_SQLSTATE('X', 'X', '0', '0', '0')

static char *
clip(const char *value, int max)
{
	return pnstrdup(value, pg_mbcliplen(value, strlen(value), max));
}

/* what isn't known is left out: nil to the code */
static void
append_member(StringInfo object, const char *name, const char *value, int max)
{
	if (value == NULL)
		return;
	appendStringInfo(object, ", \"%s\": ", name);
	escape_json(object, clip(value, max));
}

char *
failure_text(const char *tool, const Failure *failure)
{
	StringInfoData object;

	initStringInfo(&object);
	appendStringInfoString(&object, "{\"code\": ");
	escape_json(&object, failure->code);
	append_member(&object, "message", failure->message, MESSAGE_MAX);
	append_member(&object, "tool", tool, HINT_MAX);
	append_member(&object, "sqlstate",
				  failure->sqlerrcode ? unpack_sql_state(failure->sqlerrcode) : NULL, 5);
	append_member(&object, "detail", failure->detail, DETAIL_MAX);
	append_member(&object, "hint", failure->hint, HINT_MAX);
	appendStringInfoChar(&object, '}');
	return object.data;
}

/*
 * An internal fault may tell of things that are nobody's business but the
 * administrator's.
 */
static char *
internal_fault(const char *tool, const ErrorData *error)
{
	Failure		failure = {"tool_failed"};
	uint32		number;
	char	   *id;

	if (!pg_strong_random(&number, sizeof(number)))
		number = (uint32) random();
	id = psprintf("%08x", number);
	ereport(LOG,
			(errcode(error->sqlerrcode),
			 errmsg("internal fault %s in tool \"%s\": %s", id, tool,
					error->message ? clip(error->message, MESSAGE_MAX) : ""),
			 error->detail ? errdetail_internal("%s", clip(error->detail, DETAIL_MAX)) : 0,
			 error->context ? errcontext("%s", clip(error->context, DETAIL_MAX)) : 0));
	failure.message = psprintf("internal fault %s", id);
	failure.hint = "The server log has the cause, under this number.";
	failure.sqlerrcode = error->sqlerrcode;
	return failure_text(tool, &failure);
}

char *
failure_of_error(const char *tool, const ErrorData *error)
{
	Failure		failure = {"tool_failed"};

	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == CLASS_INTERNAL)
		return internal_fault(tool, error);
	failure.message = error->message ? error->message : "";
	failure.detail = error->detail;
	failure.hint = error->hint;
	failure.sqlerrcode = error->sqlerrcode;
	return failure_text(tool, &failure);
}
