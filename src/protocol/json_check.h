/*
 * json_check.h
 *		Is this text one JSON value that the server's jsonb takes without error?
 *
 * The worker asks before it hands a runner's result to SQL, so that a hostile
 * result costs its own execution and not the batch.  Stricter than JSON where
 * jsonb is: no \u0000, no lone surrogate, no NUL, valid UTF-8, numbers of at
 * most 400 characters with an exponent of at most three digits, keys and
 * strings within bounds, nesting of at most JSON_MAX_DEPTH.
 *
 * Pure C: no allocation, no recursion, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_JSON_CHECK_H
#define SANDBOX_EXEC_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* nesting that results and args may have; also the encoder's limit */
#define JSON_MAX_DEPTH 100

extern bool json_check(const char *text, size_t length);

#endif
