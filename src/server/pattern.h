/*
 * pattern.h
 *		What a name or a pattern of names of tools looks like (patterns.sql).
 */
#ifndef SANDBOX_EXEC_PATTERN_H
#define SANDBOX_EXEC_PATTERN_H

#include "fmgr.h"

/* is it * or dotted identifiers, which .* may follow, of at most 255 characters? */
extern bool pattern_is_valid(const char *text, int length);

extern Datum is_pattern_v1(PG_FUNCTION_ARGS);

#endif
