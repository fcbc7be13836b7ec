/*
 * utf8.h
 *		Strict UTF-8 (no surrogates, nothing overlong, nothing past U+10FFFF),
 *		as PostgreSQL and JSON want it.
 *
 * Pure C: no allocation, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_UTF8_H
#define SANDBOX_EXEC_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes of the valid character at text, or 0 when there is none */
extern size_t utf8_char_length(const char *text, size_t length);

/* write a code point (no surrogate, U+10FFFF at most); returns the bytes: 1 to 4 */
extern size_t utf8_encode(uint32_t code, char *out);

/*
 * Bytes at the end of text that begin a character which more bytes could
 * complete: 0 to 3.
 */
extern size_t utf8_partial_length(const char *text, size_t length);

/* the whole text is valid; NUL counts as invalid */
extern bool utf8_valid(const char *text, size_t length);

/*
 * Copy text into out with NUL and each invalid byte as U+FFFD, stopping before
 * a character that would exceed capacity or max_chars.  Returns the bytes
 * written; *consumed says how much of text they stand for, *chars how many
 * characters were written.
 */
extern size_t utf8_sanitize(const char *text, size_t length,
							char *out, size_t capacity, size_t max_chars,
							size_t *consumed, size_t *chars);

/* the largest length <= limit that does not cut a character of valid text */
extern size_t utf8_clip(const char *text, size_t length, size_t limit);

#endif
