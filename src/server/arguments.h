/*
 * arguments.h
 *		From a JSON object to the arguments of a function, by its catalog entry.
 *
 * All of this runs as the submitter, in the tool's subtransaction: input
 * functions and the checks of domains are code of whoever wrote them.
 */
#ifndef SANDBOX_EXEC_ARGUMENTS_H
#define SANDBOX_EXEC_ARGUMENTS_H

#include "access/htup.h"
#include "utils/jsonb.h"

/* a function's input arguments, in order */
typedef struct Signature
{
	int			count;
	char	  **names;
	Oid		   *types;
	int			required;		/* the others, at the end, have defaults */
} Signature;

/* the arguments of one call; values of those not given are undefined */
typedef struct Arguments
{
	bool	   *given;
	bool	   *nulls;
	Datum	   *values;
} Arguments;

/*
 * Read the signature off a pg_proc row.  NULL when the function can't be called
 * by name and value: *reason says why then, as a sentence.
 */
extern Signature *arguments_signature(HeapTuple function, const char **reason);

/* "id integer, note text (optional)" */
extern char *arguments_text(const Signature *signature);

/* convert them, by the types' own input; ERROR for the first that can't be */
extern void arguments_convert(const Signature *signature, Jsonb *args, Arguments *arguments);

/* the member of an object by name, or NULL */
extern JsonbValue *arguments_member(JsonbContainer *object, const char *name);

/*
 * Convert the only member of an object, of that name, to that type; ERROR when
 * it can't be.
 */
extern void arguments_try(Oid type, Jsonb *object, char *name);

#endif
