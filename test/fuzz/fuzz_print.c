/*
 * fuzz_print.c
 *		Any bytes printed in any pieces: what the reader gets is what sanitizing
 *		each stream as a whole gives, up to the cap.
 *
 * The first byte is the cap.  Then: a byte whose low bit is the stream and whose
 * rest is a length, and so many bytes; and so on.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/protocol/outlog.h"
#include "../../src/protocol/utf8.h"

#define MAX_INPUT 4096
#define MAX_TEXT (3 * MAX_INPUT)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Text
{
	char		bytes[MAX_TEXT];
	size_t		length;
	int			truncated;
} Text;

static uint8_t *area;
static Text printed[OUTLOG_STREAMS];
static Text got[OUTLOG_STREAMS];

static void
must(int condition)
{
	if (!condition)
		abort();
}

static void
add(Text *text, const char *bytes, size_t length)
{
	must(text->length + length <= MAX_TEXT);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void
drain(OutlogCursor *cursor)
{
	char		buffer[64];
	OutlogPiece piece;

	while (outlog_read(area, cursor, buffer, sizeof(buffer), &piece) > 0)
	{
		add(&got[piece.stream], buffer, piece.length);
		got[piece.stream].truncated |= piece.truncated;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OutlogWriter writer;
	OutlogCursor cursor = {0};
	const uint8_t *end = data + size;
	uint32_t	cap;

	if (size < 2 || size > MAX_INPUT)
		return 0;
	if (area == NULL)
		area = calloc(1, OUTLOG_SIZE);
	memset(printed, 0, sizeof(printed));
	memset(got, 0, sizeof(got));
	cap = *data++;
	cursor.previous = outlog_generation(area);
	outlog_reset(&writer, area, cap);
	while (data < end)
	{
		OutlogStream stream = (*data & 1) != 0 ? OUTLOG_STDOUT : OUTLOG_STDERR;
		size_t		length = *data++ >> 1;

		if (length > (size_t) (end - data))
			length = (size_t) (end - data);
		outlog_write(&writer, stream, (const char *) data, length);
		add(&printed[stream], (const char *) data, length);
		data += length;
		if (length % 3 == 0)
			drain(&cursor);
	}
	outlog_finish(&writer);
	drain(&cursor);

	for (int stream = OUTLOG_STDOUT; stream <= OUTLOG_STDERR; stream++)
	{
		static char expected[MAX_TEXT];
		size_t		consumed;
		size_t		chars;
		size_t		n = utf8_sanitize(printed[stream].bytes, printed[stream].length,
									  expected, sizeof(expected), cap, &consumed, &chars);

		must(n == got[stream].length && memcmp(expected, got[stream].bytes, n) == 0);
		must(got[stream].truncated == (consumed < printed[stream].length));
	}
	return 0;
}
