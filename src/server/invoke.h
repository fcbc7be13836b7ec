/*
 * invoke.h
 *		Calls a function by its oid and gives back what it returns as JSON text.
 */
#ifndef SANDBOX_EXEC_INVOKE_H
#define SANDBOX_EXEC_INVOKE_H

#include "arguments.h"
#include "lib/stringinfo.h"

typedef struct Invocation
{
	Oid			function;
	Oid			result_type;
	bool		returns_set;
	int			max_bytes;		/* of the result's JSON text */

	/* filled in */
	bool		is_null;		/* null or void: there is no text */
	bool		too_large;		/* the ERROR came from max_bytes */
} Invocation;

/*
 * Call it with an active snapshot and append the result to text: a set as an
 * array.  Arguments that are not given have defaults.  The effective user needs
 * EXECUTE.
 */
extern void invoke(Invocation *invocation, const Signature *signature,
				   const Arguments *arguments, StringInfo text);

#endif
