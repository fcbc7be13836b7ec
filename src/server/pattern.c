/*
 * pattern.c
 *		What a name or a pattern of names of tools looks like.
 *
 * Without a regular expression, which costs more than the rest of the checks of
 * a request.
 */
#include "postgres.h"

#include "pattern.h"

PG_FUNCTION_INFO_V1(is_pattern_v1);

#define MAX_PATTERN_LENGTH 255

static bool
starts_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
continues_word(char c)
{
	return starts_word(c) || (c >= '0' && c <= '9');
}

bool
pattern_is_valid(const char *text, int length)
{
	bool		in_word = false;
	int			i;

	if (length < 1 || length > MAX_PATTERN_LENGTH)
		return false;
	for (i = 0; i < length; i++)
	{
		if (in_word ? continues_word(text[i]) : starts_word(text[i]))
			in_word = true;
		else if (in_word && text[i] == '.')
			in_word = false;
		else
			return !in_word && text[i] == '*' && i == length - 1;
	}
	return in_word;
}

Datum
is_pattern_v1(PG_FUNCTION_ARGS)
{
	text	   *pattern = PG_GETARG_TEXT_PP(0);

	PG_RETURN_BOOL(pattern_is_valid(VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)));
}
