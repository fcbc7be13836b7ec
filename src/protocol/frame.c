/*
 * frame.c
 *		Writing and reading length-prefixed frames.
 *
 * Integers are assembled byte by byte: no alignment, no endianness, no cast
 * of a buffer to a struct.
 */
#include "frame.h"

#include <string.h>

/* stands for the length of a text that is absent */
#define TEXT_ABSENT UINT32_MAX

/* little-endian, whatever the machine is */
static void
store_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t) (value >> (8 * i));
}

static uint32_t
load_u32(const uint8_t *at)
{
	uint32_t	value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t) at[i] << (8 * i);
	return value;
}

/* room for n more bytes, or NULL and the writer remembers the overflow */
static uint8_t *
reserve(FrameWriter *w, size_t n)
{
	uint8_t    *at = w->buffer + w->used;

	if (w->overflow || n > w->capacity - w->used)
	{
		w->overflow = true;
		return NULL;
	}
	w->used += n;
	return at;
}

/*
 * The header's length is unknown until frame_end(); only its type is written.
 */
void
frame_begin(FrameWriter *w, void *buffer, size_t capacity, uint8_t type)
{
	uint8_t    *header;

	w->buffer = buffer;
	w->capacity = capacity;
	w->used = 0;
	w->overflow = false;
	header = reserve(w, FRAME_HEADER_SIZE);
	if (header != NULL)
		header[4] = type;
}

/* one byte needs no assembling */
void
frame_put_u8(FrameWriter *w, uint8_t value)
{
	frame_put_bytes(w, &value, 1);
}

void
frame_put_u32(FrameWriter *w, uint32_t value)
{
	uint8_t    *at = reserve(w, 4);

	if (at != NULL)
		store_u32(at, value);
}

/*
 * Signed values travel as the unsigned ones of the same bits, in two halves.
 */
void
frame_put_i64(FrameWriter *w, int64_t value)
{
	frame_put_u32(w, (uint32_t) ((uint64_t) value & UINT32_MAX));
	frame_put_u32(w, (uint32_t) ((uint64_t) value >> 32));
}

/* An empty run may come with a null pointer, which memcpy() mustn't see. */
void
frame_put_bytes(FrameWriter *w, const void *data, size_t length)
{
	uint8_t    *at = reserve(w, length);

	if (at != NULL && length > 0)
		memcpy(at, data, length);
}

/*
 * The length UINT32_MAX stands for absence: no payload is ever that long, so
 * it can't be taken for a length.
 */
void
frame_put_text(FrameWriter *w, FrameText text)
{
	if (text.data == NULL)
	{
		frame_put_u32(w, TEXT_ABSENT);
		return;
	}
	frame_put_u32(w, text.length);
	frame_put_bytes(w, text.data, text.length);
}

/*
 * An overflow anywhere makes the whole frame worthless: nothing is ever sent
 * in part.
 */
size_t
frame_end(FrameWriter *w)
{
	if (w->overflow || w->used - FRAME_HEADER_SIZE > UINT32_MAX)
		return 0;
	store_u32(w->buffer, (uint32_t) (w->used - FRAME_HEADER_SIZE));
	return w->used;
}

/*
 * Nothing is consumed: a caller that reads from a socket asks again with more
 * bytes until the frame is whole.
 */
int
frame_peek(const uint8_t *data, size_t length, size_t max_payload,
		   uint8_t *type, FrameReader *payload, size_t *size)
{
	size_t		announced;

	if (length < FRAME_HEADER_SIZE)
		return 0;
	announced = load_u32(data);
	/* refused before it is awaited: a liar must not make us buffer more */
	if (announced > max_payload)
		return -1;
	if (announced > length - FRAME_HEADER_SIZE)
		return 0;
	*type = data[4];
	payload->data = data + FRAME_HEADER_SIZE;
	payload->length = announced;
	payload->position = 0;
	payload->broken = false;
	*size = FRAME_HEADER_SIZE + announced;
	return 1;
}

/* the next n bytes, or NULL and the reader remembers the violation */
static const uint8_t *
take(FrameReader *r, size_t n)
{
	const uint8_t *at = r->data + r->position;

	if (r->broken || n > r->length - r->position)
	{
		r->broken = true;
		return NULL;
	}
	r->position += n;
	return at;
}

/*
 * Each getter yields zero once the reader is broken, so decoders need no
 * check between fields.
 */
uint8_t
frame_get_u8(FrameReader *r)
{
	const uint8_t *at = take(r, 1);

	return at == NULL ? 0 : at[0];
}

uint32_t
frame_get_u32(FrameReader *r)
{
	const uint8_t *at = take(r, 4);

	return at == NULL ? 0 : load_u32(at);
}

int64_t
frame_get_i64(FrameReader *r)
{
	const uint8_t *at = take(r, 8);

	if (at == NULL)
		return 0;
	return (int64_t) ((uint64_t) load_u32(at) | (uint64_t) load_u32(at + 4) << 32);
}

/*
 * What could not be read is zeroed: the caller's buffer is never left with
 * what happened to be in it.
 */
void
frame_get_bytes(FrameReader *r, void *into, size_t length)
{
	const uint8_t *at = take(r, length);

	if (length == 0)
		return;
	if (at == NULL)
		memset(into, 0, length);
	else
		memcpy(into, at, length);
}

/*
 * The text points into the payload: it lives as long as the buffer does, and
 * nothing is copied.
 */
FrameText
frame_get_text(FrameReader *r)
{
	FrameText	text = {NULL, 0};
	uint32_t	length = frame_get_u32(r);
	const uint8_t *at;

	if (r->broken || length == TEXT_ABSENT)
		return text;
	at = take(r, length);
	if (at == NULL)
		return text;
	text.data = (const char *) at;
	text.length = length;
	return text;
}

/*
 * Leftover bytes are as bad as missing ones: both mean that the two sides
 * disagree about the form.
 */
bool
frame_complete(const FrameReader *r)
{
	return !r->broken && r->position == r->length;
}
