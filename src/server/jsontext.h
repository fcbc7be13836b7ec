/*
 * jsontext.h
 *		JSON text on its way to jsonb.
 */
#ifndef SANDBOX_EXEC_JSONTEXT_H
#define SANDBOX_EXEC_JSONTEXT_H

#include "utils/jsonb.h"

/* ERROR for what jsonb can't hold */
extern Jsonb *jsontext_to_jsonb(const char *text);

/*
 * JSON can say what jsonb can't hold, such as the character NUL.  NULL and a
 * message then.
 */
extern Jsonb *jsontext_try(const char *text, char **message);

/* a parameter of a statement; NULL for text is null */
extern Datum jsontext_datum(const char *text, char *null);

#endif
