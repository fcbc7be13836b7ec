/*
 * outlog.h
 *		What the code printed, in memory that worker and runner share.
 *
 * print() costs a copy and no system call, what was printed before a kill is
 * kept, and printed bytes can never be taken for a frame.
 *
 * The area is a header and a sequence of records, each a run of text of one
 * stream, in the order written.  The writer (runner) only ever extends it: it
 * stores bytes, then the record's length, then the used total, each with
 * release order.  The last record may grow; an earlier one never changes.  A
 * record that is marked truncated is written once and ends its stream.
 *
 * The reader (worker) trusts nothing: it copies before it checks, clamps every
 * length to the area, and replaces what is not UTF-8 or is NUL by U+FFFD.  Its
 * cursor lets it read while the code still runs.
 *
 * Pure C11 atomics: no allocation, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_OUTLOG_H
#define SANDBOX_EXEC_OUTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* size of the whole shared area in bytes; the worker creates and seals it */
#define OUTLOG_SIZE (4 * 1024 * 1024)

typedef enum OutlogStream
{
	OUTLOG_STDOUT = 1,
	OUTLOG_STDERR = 2,
	OUTLOG_CUSTOM = 3			/* events that the code emits; each a record */
} OutlogStream;

/*
 * Records of one execution.  Each becomes a row: a program that changes stream
 * with every character is cut sooner than its characters ask for.
 */
#define OUTLOG_RECORDS_MAX 20000

/* one custom event, in bytes of its JSON text */
#define OUTLOG_EVENT_MAX (64 * 1024)

#define OUTLOG_STREAMS 4		/* array size; index 0 is unused */

/* the writer's own bookkeeping, in the runner's private memory */
typedef struct OutlogWriter
{
	uint8_t    *area;
	uint32_t	max_chars;		/* per stream */
	uint32_t	chars[OUTLOG_STREAMS];
	bool		truncated[OUTLOG_STREAMS];
	uint32_t	last_record;	/* offset of the record that may grow, or 0 */
	uint32_t	records;
	size_t		spread;			/* bytes that events take in the log beyond those here */

	/*
	 * The start of a character whose other bytes haven't been printed yet.
	 * The area only ever holds whole characters, so what a reader makes of it
	 * doesn't depend on when it looks.
	 */
	uint8_t		partial[OUTLOG_STREAMS][4];
	uint8_t		partial_length[OUTLOG_STREAMS];
} OutlogWriter;

/* empty the area for a new execution; only while no reader is at work */
extern void outlog_reset(OutlogWriter *w, void *area, uint32_t max_chars);

/*
 * Append text to a stream, sanitized as utf8.h does.  Characters beyond
 * max_chars, or beyond the area, are dropped and the stream is marked
 * truncated, once.
 */
extern void outlog_write(OutlogWriter *w, OutlogStream stream, const char *text, size_t length);

/*
 * Append a custom event: JSON text of at most OUTLOG_EVENT_MAX bytes, which
 * takes stored bytes in the server's log.  False when it is larger, or there is
 * no room for it here or there; nothing was written then.
 */
extern bool outlog_emit(OutlogWriter *w, const char *json, size_t length, size_t stored);

/* write what was held back of an incomplete character; call it when the code ends */
extern void outlog_finish(OutlogWriter *w);

/*
 * Number of the execution whose output the area holds, 0 when it's fresh; each
 * outlog_reset() raises it.
 */
extern uint32_t outlog_generation(const void *area);

/*
 * Where a reader stands.  To begin, zero it and, before the request is sent, set
 * previous to outlog_generation(): until the writer has reset the area, what it
 * holds belongs to an earlier execution and isn't read.
 */
typedef struct OutlogCursor
{
	uint32_t	previous;
	uint32_t	record;			/* offset of the record being read */
	uint32_t	taken;			/* bytes of it that were read */
} OutlogCursor;

typedef struct OutlogPiece
{
	OutlogStream stream;
	bool		truncated;		/* the stream was cut after this text */
	uint32_t	length;			/* bytes of sanitized text in the buffer */
} OutlogPiece;

/*
 * Copy the next unread run of text into buffer, sanitized.  Returns 1 when a
 * piece was read (of a long run, as much as fits at a character boundary), 0
 * when there is nothing more for now, -1 when the area is not sound (its writer
 * is hostile; nothing further can be read).  The buffer must hold at least
 * OUTLOG_EVENT_MAX bytes, so that a custom event, which is always read whole,
 * fits; text never exceeds capacity.
 */
extern int	outlog_read(const void *area, OutlogCursor *cursor,
						char *buffer, size_t capacity, OutlogPiece *piece);

#endif
