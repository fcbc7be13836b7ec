/*
 * frame.h
 *		Length-prefixed frames between a worker and its runner.
 *
 * A frame is a 4-byte little-endian payload length, one type byte, and the
 * payload.  The payload is a flat sequence of fields in an order that each
 * message fixes (message.h): integers of fixed width, and texts as a 4-byte
 * length and bytes.
 *
 * Whatever comes from the other side is hostile: every reader here is bounded
 * by the buffer it was given, remembers the first violation, and yields zeros
 * and empty texts after it, so that a decoder can read all of its fields and
 * ask once, at the end, whether the frame was sound.
 *
 * Pure C: no allocation, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_FRAME_H
#define SANDBOX_EXEC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_SIZE 5

/* a text within a frame; not terminated, not validated, never owned */
typedef struct FrameText
{
	const char *data;			/* NULL when the text is absent */
	uint32_t	length;			/* bytes */
} FrameText;

/* writes fields into a caller's buffer; overflow is remembered, not written */
typedef struct FrameWriter
{
	uint8_t    *buffer;
	size_t		capacity;
	size_t		used;			/* header included */
	bool		overflow;
} FrameWriter;

/* reads fields from one payload */
typedef struct FrameReader
{
	const uint8_t *data;
	size_t		length;
	size_t		position;
	bool		broken;			/* a field did not fit: the frame is refused */
} FrameReader;

/* begin a frame of that type at the start of buffer */
extern void frame_begin(FrameWriter *w, void *buffer, size_t capacity, uint8_t type);
extern void frame_put_u8(FrameWriter *w, uint8_t value);
extern void frame_put_u32(FrameWriter *w, uint32_t value);
extern void frame_put_i64(FrameWriter *w, int64_t value);
extern void frame_put_bytes(FrameWriter *w, const void *data, size_t length);	/* bare */
extern void frame_put_text(FrameWriter *w, FrameText text); /* absent stays absent */

/* fill in the header; returns the frame's size, or 0 after an overflow */
extern size_t frame_end(FrameWriter *w);

/*
 * Look for a whole frame at the start of data.  Returns 1 and sets type,
 * payload and size (header included) when there is one, 0 when more bytes are
 * needed, -1 when the announced payload exceeds max_payload.
 */
extern int	frame_peek(const uint8_t *data, size_t length, size_t max_payload,
					   uint8_t *type, FrameReader *payload, size_t *size);

extern uint8_t frame_get_u8(FrameReader *r);
extern uint32_t frame_get_u32(FrameReader *r);
extern int64_t frame_get_i64(FrameReader *r);
extern void frame_get_bytes(FrameReader *r, void *into, size_t length);
extern FrameText frame_get_text(FrameReader *r);

/* true when every field was there and nothing is left over */
extern bool frame_complete(const FrameReader *r);

#endif
