/*
 * output.c
 *		What the code printed, as events for the log.
 */
#include "postgres.h"

#include "output.h"
#include "utils/json.h"

/* the most text that one event carries, in bytes */
#define EVENT_TEXT_BYTES (64 * 1024)

/* as many in one write as the log takes, less what append_rest() adds */
#define MAX_EVENTS (1000 - OUTLOG_STREAMS)

static void
append_event(StringInfo events, const OutlogPiece *piece, const char *text)
{
	if (events->len > 0)
		appendStringInfoChar(events, ',');
	appendStringInfo(events, "{\"type\":\"%s\",\"data\":{\"text\":",
					 piece->stream == OUTLOG_STDERR ? "stderr" : "stdout");
	escape_json(events, text);
	appendStringInfoString(events, piece->truncated ? ",\"truncated\":true}}" : "}}");
}

/*
 * One read of the area.  In the log, runs of the streams keep their order; a
 * program that changes stream more often than a log can hold has the rest of
 * each put together.
 */
typedef struct Reading
{
	StringInfo	events;
	int			count;
	StringInfoData rest[OUTLOG_STREAMS];	/* data is NULL: nothing */
	bool		truncated[OUTLOG_STREAMS];
} Reading;

static void
put_aside(Reading *reading, const OutlogPiece *piece, const char *text)
{
	StringInfo	rest = &reading->rest[piece->stream];

	if (rest->data == NULL)
		initStringInfo(rest);
	appendBinaryStringInfo(rest, text, piece->length);
	reading->truncated[piece->stream] |= piece->truncated;
}

static void
append_rest(Reading *reading)
{
	int			stream;

	for (stream = 0; stream < OUTLOG_STREAMS; stream++)
	{
		OutlogPiece piece = {stream, reading->truncated[stream], reading->rest[stream].len};

		if (reading->rest[stream].data == NULL)
			continue;
		append_event(reading->events, &piece, reading->rest[stream].data);
		pfree(reading->rest[stream].data);
	}
}

bool
output_append_events(const void *area, OutlogCursor *cursor, StringInfo events)
{
	Reading		reading = {events};
	char	   *text = NULL;
	OutlogPiece piece;
	char		first[512];
	int			found;

	/* most executions print little or nothing */
	while ((found = outlog_read(area, cursor, text ? text : first,
								text ? EVENT_TEXT_BYTES : sizeof(first) - 1, &piece)) > 0)
	{
		(text ? text : first)[piece.length] = '\0';
		if (reading.count++ < MAX_EVENTS)
			append_event(events, &piece, text ? text : first);
		else
			put_aside(&reading, &piece, text ? text : first);
		if (text == NULL)
			text = palloc(EVENT_TEXT_BYTES + 1);
	}
	if (text)
		pfree(text);
	append_rest(&reading);
	return found == 0;
}
