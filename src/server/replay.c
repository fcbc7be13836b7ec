/*
 * replay.c
 *		What earlier attempts have logged, and how far this one repeats it.
 *
 * Text of one stream is compared as a run of characters: where an attempt cut
 * it into events depends on when it was flushed, and means nothing.
 */
#include "postgres.h"

#include "replay.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

bool
replay_active(const Replay *replay)
{
	return replay->diverged_at == 0 && replay->next < replay->count;
}

static void
diverge(Replay *replay)
{
	replay->diverged_at = replay->events[replay->next].pos;
}

static void
advance(Replay *replay)
{
	replay->next++;
	replay->taken = 0;
}

/* the event at hand, past those that are used up and say nothing more */
static const LoggedEvent *
current_event(Replay *replay)
{
	while (replay_active(replay))
	{
		const LoggedEvent *event = &replay->events[replay->next];

		if (replay->taken < event->length || event->truncated)
			return event;
		advance(replay);
	}
	return NULL;
}

/* custom events are values: compared in the form that jsonb prints */
static bool
match_custom(Replay *replay, const LoggedEvent *event, const char *text)
{
	Jsonb	   *value = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
	char	   *printed = JsonbToCString(NULL, &value->root, VARSIZE(value));
	bool		same = event->stream == OUTLOG_CUSTOM && strcmp(printed, event->text) == 0;

	pfree(printed);
	pfree(value);
	if (same)
		advance(replay);
	else
		diverge(replay);
	return same;
}

static size_t
common_prefix(const char *a, const char *b, size_t length)
{
	size_t		n = 0;

	while (n < length && a[n] == b[n])
		n++;

	/* a character that differs in its later bytes differs as a whole */
	while (n < length && n > 0 && (a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static size_t
match_text(Replay *replay, OutlogStream stream, const char *text, size_t length)
{
	size_t		matched = 0;

	while (matched < length)
	{
		const LoggedEvent *event = current_event(replay);
		size_t		wanted;
		size_t		n;

		if (event == NULL)
			break;
		wanted = Min(event->length - replay->taken, length - matched);
		if (event->stream != stream || wanted == 0)
		{
			diverge(replay);
			break;
		}
		n = common_prefix(text + matched, event->text + replay->taken, wanted);
		matched += n;
		replay->taken += n;
		if (n < wanted)
			diverge(replay);
	}
	return matched;
}

/* the stream was cut here: was it the last time? */
static bool
match_cut(Replay *replay, OutlogStream stream)
{
	const LoggedEvent *event = current_event(replay);

	if (event == NULL)
		return false;
	if (event->stream == stream && event->truncated && replay->taken == event->length)
	{
		advance(replay);
		return true;
	}
	diverge(replay);
	return false;
}

size_t
replay_match(Replay *replay, const OutlogPiece *piece, const char *text, bool *known_cut)
{
	size_t		matched;

	*known_cut = false;
	if (piece->stream == OUTLOG_CUSTOM)
	{
		const LoggedEvent *event = current_event(replay);

		return event != NULL && match_custom(replay, event, text) ? piece->length : 0;
	}
	matched = match_text(replay, piece->stream, text, piece->length);
	if (piece->truncated && matched == piece->length)
		*known_cut = match_cut(replay, piece->stream);
	return matched;
}

void
replay_finish(Replay *replay)
{
	if (current_event(replay) != NULL)
		diverge(replay);
}
