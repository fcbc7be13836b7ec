/*
 * jsontext.h
 *		JSON as text, and as the server keeps it.
 */
#ifndef SANDBOX_EXEC_JSONTEXT_H
#define SANDBOX_EXEC_JSONTEXT_H

#include "utils/jsonb.h"

/*
 * Nothing in it that jsonb may refuse, or write much longer: no escape, no
 * exponent, no number of many digits.
 */
extern bool jsontext_is_plain(const char *text);

/* ERROR for what jsonb can't hold */
extern Jsonb *jsontext_to_jsonb(const char *text);

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

/* a parameter of a statement; NULL for text is null */
extern Datum jsontext_datum(const char *text, char *null);

#endif
