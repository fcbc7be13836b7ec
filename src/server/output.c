/*
 * output.c
 *		What the code of one execution prints and emits, as events for the log.
 */
#include "postgres.h"

#include "output.h"
#include "utils/json.h"
#include "../protocol/json_check.h"

/* the piece at hand; a worker has one execution at a time */
static char piece_text[OUTLOG_EVENT_MAX + 1];

void
output_begin(Output *output, const void *area, uint32 generation,
			 const LoggedEvent *logged, int logged_count, int attempt)
{
	memset(output, 0, sizeof(Output));
	output->area = area;
	output->cursor.previous = generation;
	output->replay.events = logged;
	output->replay.count = logged_count;
	output->attempt = attempt;
	output->sound = true;
	initStringInfo(&output->events);
}

/* ----------------------------------------------------------------- as JSON */

static void
begin_event(Output *output, const char *type)
{
	if (output->events.len > 0)
		appendStringInfoChar(&output->events, ',');
	appendStringInfo(&output->events, "{\"type\":\"%s\",\"data\":", type);
	output->count++;
}

static void
append_text_event(Output *output, OutlogStream stream, const char *text, bool truncated)
{
	begin_event(output, stream == OUTLOG_STDERR ? "stderr" : "stdout");
	appendStringInfoString(&output->events, "{\"text\":");
	escape_json(&output->events, text);
	appendStringInfoString(&output->events, truncated ? ",\"truncated\":true}}" : "}}");
}

static void
append_custom_event(Output *output, const char *json)
{
	begin_event(output, "custom");
	appendStringInfoString(&output->events, json);
	appendStringInfoChar(&output->events, '}');
}

/* before the first output that the log does not hold as it is */
static void
tell_difference(Output *output)
{
	if (output->replay.diverged_at == 0 || output->told_difference)
		return;
	output->told_difference = true;
	begin_event(output, "retry");
	appendStringInfo(&output->events,
					 "{\"attempt\":%d,\"reason\":\"output_differs\",\"diverged_at\":" INT64_FORMAT "}}",
					 output->attempt, output->replay.diverged_at);
}

/* ------------------------------------------------------------------ pieces */

static void
take_piece(Output *output, const OutlogPiece *piece)
{
	size_t		known = 0;
	bool		known_cut = false;

	if (piece->stream == OUTLOG_CUSTOM && !json_check(piece_text, piece->length))
	{
		output->sound = false;
		return;
	}
	if (replay_active(&output->replay))
		known = replay_match(&output->replay, piece, piece_text, &known_cut);
	tell_difference(output);
	if (known == piece->length && (known_cut || !piece->truncated))
		return;
	if (piece->stream == OUTLOG_CUSTOM)
		append_custom_event(output, piece_text);
	else
		append_text_event(output, piece->stream, piece_text + known,
						  piece->truncated && !known_cut);
}

bool
output_collect(Output *output, int max_events)
{
	OutlogPiece piece;
	int			found = 0;

	/* one piece can make two events */
	while (output->sound && output->count < max_events - 1 &&
		   (found = outlog_read(output->area, &output->cursor, piece_text,
								OUTLOG_EVENT_MAX, &piece)) > 0)
	{
		piece_text[piece.length] = '\0';
		take_piece(output, &piece);
	}
	if (found < 0)
		output->sound = false;
	return output->sound;
}

bool
output_finish(Output *output, bool quiet)
{
	if (!quiet && !output_collect(output, OUTPUT_OUTCOME_EVENTS))
		return false;
	replay_finish(&output->replay);
	tell_difference(output);
	return true;
}

void
output_logged(Output *output)
{
	resetStringInfo(&output->events);
	output->count = 0;
}
