/*
 * problems.h
 *		What is wrong with the arguments of a call: everything, with its path,
 *		such as items[2].price.
 */
#ifndef SANDBOX_EXEC_PROBLEMS_H
#define SANDBOX_EXEC_PROBLEMS_H

#include "arguments.h"
#include "lib/stringinfo.h"

/* so many are told; no more are looked for */
#define PROBLEMS_TOLD 20

typedef struct Problems
{
	int			count;			/* PROBLEMS_TOLD: there may be more */
	char	   *first;			/* NULL when there is none */
	int			tries;			/* conversions of values, to find them */
	StringInfoData lines;		/* the first ones, one a line: "path: what is wrong" */
} Problems;

/*
 * What is found without converting: names that are unknown, also those of
 * fields, and arguments that are missing.  args may be NULL: none.
 */
extern void problems_check(const Signature *signature, Jsonb *args, Problems *problems);

/*
 * Try each value by itself, in subtransactions, and add what is wrong with it:
 * for when arguments_convert() failed.
 */
extern void problems_probe(const Signature *signature, Jsonb *args, Problems *problems);

#endif
