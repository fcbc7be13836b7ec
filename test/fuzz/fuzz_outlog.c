/*
 * fuzz_outlog.c
 *		Any bytes as the shared area, which may change between two reads: the
 *		reader stays in bounds, ends, and yields only sound text.
 *
 * The first byte chooses the buffer's size; the first half of the rest is the
 * area before, the second half what a hostile writer makes of it later.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/protocol/outlog.h"
#include "../../src/protocol/utf8.h"

#define DRAIN_ENOUGH 20000

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *area;

static void
must(int condition)
{
	if (!condition)
		abort();
}

/* read on, but not through megabytes of what the input didn't even set */
static void
drain(OutlogCursor *cursor, size_t capacity)
{
	char		buffer[300];
	OutlogPiece piece;
	size_t		total = 0;

	while (total < DRAIN_ENOUGH && outlog_read(area, cursor, buffer, capacity, &piece) > 0)
	{
		must(piece.length <= capacity);
		must(piece.length > 0 || piece.truncated);
		must(piece.stream == OUTLOG_STDOUT || piece.stream == OUTLOG_STDERR ||
			 (piece.stream == OUTLOG_CUSTOM && !piece.truncated));
		must(utf8_valid(buffer, piece.length));
		total += piece.length + 1;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OutlogCursor cursor = {0};
	size_t		capacity;
	size_t		half;

	if (size < 3 || size > OUTLOG_SIZE)
		return 0;
	if (area == NULL)
		area = malloc(OUTLOG_SIZE);
	capacity = 16 + data[0] % 200;
	data++;
	half = (size - 1) / 2;
	memset(area, 0, 4096);
	memcpy(area, data, half);
	drain(&cursor, capacity);
	memcpy(area, data + half, half);
	drain(&cursor, capacity);
	return 0;
}
