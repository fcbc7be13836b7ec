/*
 * utf8.c
 *		Strict UTF-8: one decoder, and what is built on it.
 */
#include "utf8.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"	/* U+FFFD */
#define REPLACEMENT_BYTES 3

/* 10xxxxxx */
static bool
is_continuation(uint8_t byte)
{
	return (byte & 0xC0) == 0x80;
}

/*
 * The ranges of the second byte are where strictness lies: they exclude
 * overlong forms (E0, F0), surrogates (ED) and what is past U+10FFFF (F4).
 */
static bool
second_byte_fits(uint8_t lead, uint8_t second)
{
	switch (lead)
	{
		case 0xE0:
			return second >= 0xA0 && second <= 0xBF;
		case 0xED:
			return second >= 0x80 && second <= 0x9F;
		case 0xF0:
			return second >= 0x90 && second <= 0xBF;
		case 0xF4:
			return second >= 0x80 && second <= 0x8F;
		default:
			return is_continuation(second);
	}
}

/* length that a lead byte announces, or 0 when it can't begin a character */
static size_t
announced_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF)
		return 3;
	if (lead >= 0xF0 && lead <= 0xF4)
		return 4;
	return 0;
}

/*
 * The second byte decides whether the form is strict; the others only have to
 * be continuations.
 */
size_t
utf8_char_length(const char *text, size_t length)
{
	const uint8_t *byte = (const uint8_t *) text;
	size_t		need;

	if (length == 0)
		return 0;
	need = announced_length(byte[0]);
	if (need <= 1)
		return need;
	if (need > length || !second_byte_fits(byte[0], byte[1]))
		return 0;
	for (size_t i = 2; i < need; i++)
	{
		if (!is_continuation(byte[i]))
			return 0;
	}
	return need;
}

/* one to four bytes, six bits in each but the first */
size_t
utf8_encode(uint32_t code, char *out)
{
	if (code < 0x80)
	{
		out[0] = (char) code;
		return 1;
	}
	if (code < 0x800)
	{
		out[0] = (char) (0xC0 | code >> 6);
		out[1] = (char) (0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000)
	{
		out[0] = (char) (0xE0 | code >> 12);
		out[1] = (char) (0x80 | (code >> 6 & 0x3F));
		out[2] = (char) (0x80 | (code & 0x3F));
		return 3;
	}
	out[0] = (char) (0xF0 | code >> 18);
	out[1] = (char) (0x80 | (code >> 12 & 0x3F));
	out[2] = (char) (0x80 | (code >> 6 & 0x3F));
	out[3] = (char) (0x80 | (code & 0x3F));
	return 4;
}

/*
 * Looks back for the lead byte of the last character.  A lead that its own
 * followers already contradict can't be completed, so it isn't waited for.
 */
size_t
utf8_partial_length(const char *text, size_t length)
{
	const uint8_t *byte = (const uint8_t *) text;

	/* a lead byte lies at most three bytes before the end */
	for (size_t back = 1; back <= 3 && back <= length; back++)
	{
		const uint8_t *lead = byte + length - back;

		if (is_continuation(*lead))
			continue;
		if (announced_length(*lead) <= back)
			return 0;
		if (back >= 2 && !second_byte_fits(lead[0], lead[1]))
			return 0;
		return back;
	}
	return 0;
}

/* NUL is UTF-8, but no PostgreSQL text can hold it */
bool
utf8_valid(const char *text, size_t length)
{
	size_t		at = 0;

	while (at < length)
	{
		size_t		n = utf8_char_length(text + at, length - at);

		if (n == 0 || text[at] == '\0')
			return false;
		at += n;
	}
	return true;
}

/*
 * Each unsound byte becomes one U+FFFD.  (Unicode recommends one for a
 * maximal subpart, which would need look-ahead over what isn't there yet.).
 */
size_t
utf8_sanitize(const char *text, size_t length,
			  char *out, size_t capacity, size_t max_chars,
			  size_t *consumed, size_t *chars)
{
	size_t		from = 0;
	size_t		to = 0;
	size_t		count = 0;

	while (from < length && count < max_chars)
	{
		size_t		taken = utf8_char_length(text + from, length - from);
		const char *bytes = text + from;
		size_t		n = taken;

		if (taken == 0 || text[from] == '\0')
		{
			taken = 1;
			bytes = REPLACEMENT;
			n = REPLACEMENT_BYTES;
		}
		if (n > capacity - to)
			break;
		memcpy(out + to, bytes, n);
		to += n;
		from += taken;
		count++;
	}
	*consumed = from;
	*chars = count;
	return to;
}

/* the text is valid, so a cut may move back by three bytes at most */
size_t
utf8_clip(const char *text, size_t length, size_t limit)
{
	if (length <= limit)
		return length;
	while (limit > 0 && is_continuation((uint8_t) text[limit]))
		limit--;
	return limit;
}
