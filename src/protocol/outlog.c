/*
 * outlog.c
 *		Writer and reader of the shared output area.
 *
 * Layout, all offsets multiples of four:
 *
 *		0	used		offset just past the last record
 *		4	generation	raised by each reset, after used was lowered
 *		8	records		{ length, kind, text, padding to four }
 *
 * Publication order of the writer: text, length, used.  A reader that loads
 * used first and length second therefore knows: where used lies past the
 * record, another one follows and this one's length is final.
 */
#include "outlog.h"
#include "utf8.h"

#include <stdatomic.h>
#include <string.h>

#define AREA_USED 0
#define AREA_GENERATION 4
#define AREA_HEADER 8
#define RECORD_HEADER 8

/* kind: the stream, and this bit when the stream was cut after the text */
#define KIND_TRUNCATED 0x100u

/* kept free so that each stream can always say that it was cut */
#define RESERVE (2 * RECORD_HEADER)

/* a reader at this record met an unsound area before */
#define CURSOR_BROKEN UINT32_MAX

typedef _Atomic uint32_t SharedWord;

/*
 * The reader maps the area read-only and atomic loads want a pointer to non-
 * const, hence the way through an integer.
 */
static SharedWord *
word(const void *area, uint32_t offset)
{
	return (SharedWord *) ((uintptr_t) area + offset);
}

/* acquire: what was stored before the word is seen after it */
static uint32_t
load(const void *area, uint32_t offset)
{
	return atomic_load_explicit(word(area, offset), memory_order_acquire);
}

/* release: who sees the word sees what was stored before it */
static void
store(void *area, uint32_t offset, uint32_t value)
{
	atomic_store_explicit(word(area, offset), value, memory_order_release);
}

/* records begin at multiples of four, as their words need it */
static uint32_t
aligned(uint32_t n)
{
	return (n + 3) & ~UINT32_C(3);
}

/* ------------------------------------------------------------------------
 * Writer
 * ------------------------------------------------------------------------ */

/* The generation comes last: who sees it raised sees an empty area. */
void
outlog_reset(OutlogWriter *w, void *area, uint32_t max_chars)
{
	memset(w, 0, sizeof(*w));
	w->area = area;
	w->max_chars = max_chars;
	store(area, AREA_USED, AREA_HEADER);
	store(area, AREA_GENERATION, load(area, AREA_GENERATION) + 1);
}

/* true when the last record takes more text of that stream */
static bool
can_grow(const OutlogWriter *w, OutlogStream stream)
{
	return w->last_record != 0 &&
		load(w->area, w->last_record + 4) == (uint32_t) stream;
}

/* offset where text of that stream goes next, in a grown or a new record */
static uint32_t
text_offset(const OutlogWriter *w, bool grow)
{
	if (grow)
		return w->last_record + RECORD_HEADER + load(w->area, w->last_record);
	return load(w->area, AREA_USED) + RECORD_HEADER;
}

/* make length bytes, already stored at text_offset(), visible */
static void
publish(OutlogWriter *w, uint32_t kind, bool grow, uint32_t length)
{
	if (!grow)
	{
		w->records++;
		w->last_record = load(w->area, AREA_USED);
		store(w->area, w->last_record + 4, kind);
	}
	else
		length += load(w->area, w->last_record);
	store(w->area, w->last_record, length);
	store(w->area, AREA_USED, w->last_record + RECORD_HEADER + aligned(length));
}

/* the stream ends here: an empty record says so, for which room was kept */
static void
mark_truncated(OutlogWriter *w, OutlogStream stream)
{
	w->truncated[stream] = true;
	w->partial_length[stream] = 0;
	publish(w, (uint32_t) stream | KIND_TRUNCATED, false, 0);
	w->last_record = 0;
}

/* write text that ends at a character boundary */
static void
write_whole(OutlogWriter *w, OutlogStream stream, const char *text, size_t length)
{
	bool		grow;
	uint32_t	offset;
	uint32_t	limit = OUTLOG_SIZE - RESERVE;
	size_t		consumed = 0;
	size_t		chars = 0;
	size_t		stored = 0;

	if (w->truncated[stream] || length == 0)
		return;
	grow = can_grow(w, stream);
	offset = text_offset(w, grow);
	if (offset < limit && (grow || w->records < OUTLOG_RECORDS_MAX))
		stored = utf8_sanitize(text, length,
							   (char *) w->area + offset, limit - offset,
							   w->max_chars - w->chars[stream], &consumed, &chars);
	if (stored > 0)
		publish(w, (uint32_t) stream, grow, (uint32_t) stored);
	w->chars[stream] += (uint32_t) chars;
	if (consumed < length)
		mark_truncated(w, stream);
}

/*
 * Complete the held-back start of a character with what is printed now.
 * Returns the bytes of text that were used up.
 */
static size_t
complete_partial(OutlogWriter *w, OutlogStream stream, const char *text, size_t length)
{
	char		joined[8];
	size_t		held = w->partial_length[stream];
	size_t		taken = 0;

	memcpy(joined, w->partial[stream], held);
	while (taken < length && held + taken < 4)
	{
		joined[held + taken] = text[taken];
		taken++;
		if (utf8_partial_length(joined, held + taken) != held + taken)
			break;
	}

	if (utf8_partial_length(joined, held + taken) == held + taken)
	{
		memcpy(w->partial[stream], joined, held + taken);
		w->partial_length[stream] = (uint8_t) (held + taken);
		return taken;
	}

	/* complete, or never to be: the byte that broke it starts afresh */
	w->partial_length[stream] = 0;
	if (utf8_char_length(joined, held + taken) != held + taken)
		taken--;
	write_whole(w, stream, joined, held + taken);
	return taken;
}

/*
 * Whatever is left incomplete at the end is held back, and comes first next
 * time.
 */
void
outlog_write(OutlogWriter *w, OutlogStream stream, const char *text, size_t length)
{
	size_t		held;

	if (w->truncated[stream])
		return;
	if (w->partial_length[stream] > 0 && length > 0)
	{
		size_t		used = complete_partial(w, stream, text, length);

		text += used;
		length -= used;
		if (w->truncated[stream])
			return;
	}
	held = utf8_partial_length(text, length);
	write_whole(w, stream, text, length - held);
	if (held > 0 && !w->truncated[stream])
	{
		memcpy(w->partial[stream], text + length - held, held);
		w->partial_length[stream] = (uint8_t) held;
	}
}

bool
outlog_emit(OutlogWriter *w, const char *json, size_t length, size_t stored)
{
	uint32_t	offset = text_offset(w, false);
	size_t		spread = w->spread + (stored > length ? stored - length : 0);

	if (length == 0 || length > OUTLOG_EVENT_MAX || w->records >= OUTLOG_RECORDS_MAX ||
		offset + length + spread > OUTLOG_SIZE - RESERVE)
		return false;
	w->spread = spread;
	memcpy(w->area + offset, json, length);
	publish(w, OUTLOG_CUSTOM, false, (uint32_t) length);
	w->last_record = 0;
	return true;
}

/* What was held back will never be complete now: it becomes U+FFFD. */
void
outlog_finish(OutlogWriter *w)
{
	for (int stream = OUTLOG_STDOUT; stream <= OUTLOG_STDERR; stream++)
	{
		write_whole(w, (OutlogStream) stream, (char *) w->partial[stream],
					w->partial_length[stream]);
		w->partial_length[stream] = 0;
	}
}

/* ------------------------------------------------------------------------
 * Reader
 * ------------------------------------------------------------------------ */

/* what the area says about one record, copied once and then checked */
typedef struct Record
{
	uint32_t	length;
	OutlogStream stream;
	bool		truncated;
	bool		final;			/* another record follows: it can't grow */
	uint32_t	next;			/* where that one begins */
} Record;

/* 1 when there is a record at offset, 0 when not yet, -1 when it is unsound */
static int
load_record(const void *area, uint32_t offset, Record *record)
{
	uint32_t	used = load(area, AREA_USED);
	uint32_t	kind;

	if (used > OUTLOG_SIZE || offset > OUTLOG_SIZE - RECORD_HEADER)
		return used == offset ? 0 : -1;
	if (used <= offset)
		return used == offset || used == 0 ? 0 : -1;
	record->length = load(area, offset);
	kind = load(area, offset + 4);
	if (record->length > OUTLOG_SIZE - RECORD_HEADER - offset)
		return -1;
	record->stream = (OutlogStream) (kind & ~KIND_TRUNCATED);
	record->truncated = (kind & KIND_TRUNCATED) != 0;
	if (record->stream < OUTLOG_STDOUT || record->stream > OUTLOG_CUSTOM ||
		(record->stream == OUTLOG_CUSTOM &&
		 (record->truncated || record->length > OUTLOG_EVENT_MAX)))
		return -1;
	record->next = offset + RECORD_HEADER + aligned(record->length);
	record->final = record->truncated || record->stream == OUTLOG_CUSTOM || used > record->next;
	return 1;
}

/*
 * Copy text between two offsets, sanitized.  The source may change underneath
 * when its writer is hostile, so it is first copied and only the copy judged.
 */
static uint32_t
copy_text(const void *area, uint32_t from, uint32_t to,
		  char *buffer, size_t capacity, uint32_t *taken)
{
	char		window[512];
	size_t		written = 0;

	*taken = 0;
	while (from < to)
	{
		size_t		n = to - from < sizeof(window) ? to - from : sizeof(window);
		size_t		whole = n;
		size_t		consumed;
		size_t		chars;

		memcpy(window, (const char *) area + from, n);
		/* a character that straddles two windows waits for the second */
		if (n < to - from)
			whole -= utf8_partial_length(window, n);
		written += utf8_sanitize(window, whole, buffer + written,
								 capacity - written, SIZE_MAX, &consumed, &chars);
		*taken += (uint32_t) consumed;
		from += (uint32_t) consumed;
		if (consumed < whole)
			break;
	}
	return (uint32_t) written;
}

uint32_t
outlog_generation(const void *area)
{
	return load(area, AREA_GENERATION);
}

/* there is no way back from an unsound area: later reads fail, too */
static int
broken(OutlogCursor *cursor)
{
	cursor->record = CURSOR_BROKEN;
	return -1;
}

/*
 * The loop passes over records that hold nothing (more) to read; it ends
 * since each one lies behind the other and the area is finite.
 */
int
outlog_read(const void *area, OutlogCursor *cursor,
			char *buffer, size_t capacity, OutlogPiece *piece)
{
	if (cursor->record == 0)
	{
		if (outlog_generation(area) == cursor->previous)
			return 0;
		cursor->record = AREA_HEADER;
	}

	for (;;)
	{
		Record		record;
		uint32_t	start;
		uint32_t	taken;
		int			found;

		if (cursor->record == CURSOR_BROKEN)
			return -1;
		found = load_record(area, cursor->record, &record);
		if (found == 0)
			return 0;
		if (found < 0 || cursor->taken > record.length)
			return broken(cursor);

		start = cursor->record + RECORD_HEADER;
		piece->stream = record.stream;
		piece->length = copy_text(area, start + cursor->taken, start + record.length,
								  buffer, capacity, &taken);
		cursor->taken += taken;
		if (record.stream == OUTLOG_CUSTOM && cursor->taken != record.length)
			return broken(cursor);
		piece->truncated = record.truncated && cursor->taken == record.length;
		if (record.final && cursor->taken == record.length)
		{
			cursor->record = record.next;
			cursor->taken = 0;
		}
		else if (taken == 0)
			return 0;
		if (piece->length > 0 || piece->truncated)
			return 1;
	}
}
