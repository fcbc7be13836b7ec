/*
 * fuzz_json_check.c
 *		Any bytes as JSON: the checker stays in bounds, and what it takes is
 *		UTF-8 without NUL and stays taken inside a list.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/protocol/json_check.h"
#include "../../src/protocol/utf8.h"

#define MAX_INPUT 4096

extern int	LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* the greatest nesting that the brackets could have, strings included */
static int
may_be_deep(const char *text, size_t size)
{
	int			brackets = 0;

	for (size_t i = 0; i < size; i++)
		brackets += text[i] == '[' || text[i] == '{';
	return brackets >= JSON_MAX_DEPTH;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char		listed[MAX_INPUT + 2];
	const char *text = (const char *) data;

	if (size > MAX_INPUT || !json_check(text, size))
		return 0;
	if (!utf8_valid(text, size))
		abort();
	listed[0] = '[';
	memcpy(listed + 1, text, size);
	listed[size + 1] = ']';
	if (!may_be_deep(text, size) && !json_check(listed, size + 2))
		abort();
	/* cut anywhere inside a container or a string it is none */
	if (size > 1 && (text[0] == '[' || text[0] == '{' || text[0] == '"') &&
		strchr("]}\"", text[size - 1]) != NULL && json_check(text, size - 1))
		abort();
	return 0;
}
