/*
 * request.c
 *		What a runner is told to run.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "request.h"
#include "utils/json.h"
#include "utils/timestamp.h"

static void
append_member(StringInfo json, const char *name, const char *value)
{
	if (value == NULL)
		return;
	appendStringInfo(json, "%s\"%s\":", json->len > 1 ? "," : "", name);
	escape_json(json, value);
}

static char *
describe(const Claim *claim)
{
	StringInfoData json;
	char		id[40];
	int			i;
	int			n = 0;

	for (i = 0; i < UUID_LEN; i++)
		n += snprintf(id + n, sizeof(id) - n, "%s%02x",
					  i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", claim->id.data[i]);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_member(&json, "id", id);
	append_member(&json, "owner", claim->owner);
	append_member(&json, "org_id", claim->org_id);
	append_member(&json, "thread_id", claim->thread_id);
	appendStringInfoChar(&json, '}');
	return json.data;
}

static FrameText
frame_text(const char *text)
{
	FrameText	result = {text, text ? strlen(text) : 0};

	return result;
}

static RunMessage
request_of(const Claim *claim)
{
	RunMessage	message = {{0}};

	memcpy(message.id, claim->id.data, UUID_LEN);
	message.clock_ms = claim->started_at / 1000 +
		((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * SECS_PER_DAY * 1000;
	message.memory_limit = (int64) claim->memory_limit_kb * 1024;
	message.max_output_chars = claim->max_output_chars;
	message.execution = frame_text(describe(claim));
	message.args = frame_text(claim->args);
	message.code = frame_text(claim->code);
	return message;
}

static bool
same_domain(const Claim *a, const Claim *b)
{
	return b->submitter_exists && a->submitter == b->submitter && strcmp(a->owner, b->owner) == 0;
}

/* bytes of its frame, at most */
static size_t
frame_size(const RunMessage *message)
{
	return message->execution.length + message->args.length + message->code.length + 64;
}

void
request_send(Sandbox *sandbox, const Claim *claims, int count)
{
	RunMessage	messages[AHEAD_MAX];
	int			most = Min(count, sandbox_burst(sandbox)->most);
	size_t		bytes;
	int			n;

	messages[0] = request_of(&claims[0]);
	bytes = frame_size(&messages[0]);
	for (n = 1; n < most && same_domain(&claims[0], &claims[n]); n++)
	{
		messages[n] = request_of(&claims[n]);
		bytes += frame_size(&messages[n]);
		if (bytes > AHEAD_BURST_BYTES)
			break;
	}
	sandbox_run(sandbox, messages, n);
}
