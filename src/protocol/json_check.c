/*
 * json_check.c
 *		A validator for JSON texts that jsonb will take.
 *
 * An explicit stack of one bit a level stands in for recursion, so that the
 * depth of hostile input costs nothing.
 */
#include "json_check.h"
#include "utf8.h"

#include <string.h>

/* bounds that keep jsonb and numeric input from raising an error */
#define MAX_NUMBER_CHARS 400
#define MAX_EXPONENT_DIGITS 3
#define MAX_STRING_BYTES (64 * 1024 * 1024)

typedef struct Checker
{
	const char *at;
	const char *end;
	int			depth;
	bool		in_object[JSON_MAX_DEPTH];
} Checker;

/* JSON's four blanks; isspace() would add others and ask the locale */
static void
skip_space(Checker *c)
{
	while (c->at < c->end &&
		   (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
		c->at++;
}

/* look at the next byte without taking it */
static bool
next_is(const Checker *c, char wanted)
{
	return c->at < c->end && *c->at == wanted;
}

/* take the next byte if it is the wanted one */
static bool
accept(Checker *c, char wanted)
{
	if (!next_is(c, wanted))
		return false;
	c->at++;
	return true;
}

/*
 * Take a word that must be there as a whole; what follows it is for the
 * caller to judge.
 */
static bool
accept_word(Checker *c, const char *word)
{
	size_t		n = strlen(word);

	if ((size_t) (c->end - c->at) < n || memcmp(c->at, word, n) != 0)
		return false;
	c->at += n;
	return true;
}

/* the four hex digits after \u, or -1 */
static long
hex4(Checker *c)
{
	long		value = 0;

	if (c->end - c->at < 4)
		return -1;
	for (int i = 0; i < 4; i++)
	{
		char		d = *c->at++;

		value <<= 4;
		if (d >= '0' && d <= '9')
			value |= d - '0';
		else if (d >= 'a' && d <= 'f')
			value |= d - 'a' + 10;
		else if (d >= 'A' && d <= 'F')
			value |= d - 'A' + 10;
		else
			return -1;
	}
	return value;
}

/* what follows \u: no NUL, and surrogates only as a pair */
static bool
unicode_escape(Checker *c)
{
	long		unit = hex4(c);

	if (unit <= 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
		return false;
	if (unit < 0xD800 || unit > 0xDBFF)
		return true;
	if (!accept(c, '\\') || !accept(c, 'u'))
		return false;
	unit = hex4(c);
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* after a backslash */
static bool
escape(Checker *c)
{
	if (c->at >= c->end)
		return false;
	switch (*c->at++)
	{
		case '"':
		case '\\':
		case '/':
		case 'b':
		case 'f':
		case 'n':
		case 'r':
		case 't':
			return true;
		case 'u':
			return unicode_escape(c);
		default:
			return false;
	}
}

/* after the opening quote, through the closing one */
static bool
string_tail(Checker *c)
{
	const char *start = c->at;

	while (c->at < c->end)
	{
		size_t		n;

		if (c->at - start > MAX_STRING_BYTES)
			return false;
		if (accept(c, '"'))
			return true;
		if (accept(c, '\\'))
		{
			if (!escape(c))
				return false;
			continue;
		}
		if ((unsigned char) *c->at < 0x20)
			return false;
		n = utf8_char_length(c->at, c->end - c->at);
		if (n == 0)
			return false;
		c->at += n;
	}
	return false;
}

/* take digits; returns how many */
static size_t
digits(Checker *c)
{
	const char *start = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at - start;
}

/*
 * JSON's grammar, plus bounds: numeric would take far longer texts, but to
 * print the value of 1e131071 costs 128 kB for nine bytes of input.
 */
static bool
number(Checker *c)
{
	const char *start = c->at;

	accept(c, '-');
	if (!accept(c, '0') && digits(c) == 0)
		return false;
	if (accept(c, '.') && digits(c) == 0)
		return false;
	if (accept(c, 'e') || accept(c, 'E'))
	{
		size_t		n;

		if (!accept(c, '+'))
			accept(c, '-');
		n = digits(c);
		if (n == 0 || n > MAX_EXPONENT_DIGITS)
			return false;
	}
	return c->at - start <= MAX_NUMBER_CHARS;
}

/* everything but containers */
static bool
scalar(Checker *c)
{
	if (accept(c, '"'))
		return string_tail(c);
	return accept_word(c, "true") || accept_word(c, "false") ||
		accept_word(c, "null") || number(c);
}

/* a member's name and the colon; the checker then stands before its value */
static bool
member_name(Checker *c)
{
	skip_space(c);
	if (!accept(c, '"') || !string_tail(c))
		return false;
	skip_space(c);
	return accept(c, ':');
}

/*
 * Begin the value at hand.  Returns false when it is unsound; *opened tells
 * whether it is a container with something in it, so that a value comes next.
 */
static bool
begin_value(Checker *c, bool *opened)
{
	bool		object;

	*opened = false;
	skip_space(c);
	if (!next_is(c, '{') && !next_is(c, '['))
		return scalar(c);
	if (c->depth == JSON_MAX_DEPTH)
		return false;
	object = *c->at++ == '{';
	skip_space(c);
	if (accept(c, object ? '}' : ']'))
		return true;
	c->in_object[c->depth++] = object;
	*opened = true;
	return !object || member_name(c);
}

/*
 * After a value: close what ends here.  Returns false when the text is unsound;
 * *more tells whether another value follows in the innermost open container.
 */
static bool
end_value(Checker *c, bool *more)
{
	*more = false;
	while (c->depth > 0)
	{
		bool		object = c->in_object[c->depth - 1];

		skip_space(c);
		if (accept(c, ','))
		{
			*more = true;
			return !object || member_name(c);
		}
		if (!accept(c, object ? '}' : ']'))
			return false;
		c->depth--;
	}
	return true;
}

/*
 * Each turn of the loop begins one value; end_value() then says whether the
 * innermost container goes on.
 */
bool
json_check(const char *text, size_t length)
{
	Checker		c = {.at = text, .end = text + length};
	bool		more = true;

	while (more)
	{
		if (!begin_value(&c, &more))
			return false;
		if (!more && !end_value(&c, &more))
			return false;
	}
	skip_space(&c);
	return c.at == c.end;
}
