/*
 * jsontext.h
 *		JSON as text, and as the server keeps it.
 *
 * Texts are JSON already, all of it lives in the current context.
 */
#ifndef SANDBOX_EXEC_JSONTEXT_H
#define SANDBOX_EXEC_JSONTEXT_H

#include "utils/jsonb.h"

extern Jsonb *jsontext_parse(const char *text);

/*
 * JSON can say what jsonb can't hold, such as the character NUL.  NULL and a
 * message then.
 */
extern Jsonb *jsontext_try(const char *text, char **message);

/*
 * The journal has members in an order of its own, and code can tell: pairs() of
 * an error must be the same when it is replayed.
 */
extern char *jsontext_as_recorded(const char *text);

#endif
