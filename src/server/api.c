/*
 * api.c
 *		The C entry points of the SQL API for those who submit and watch.
 *
 * Each forwards to the SQL function of the same name with an underscore, which
 * has the rules.
 */
#include "postgres.h"

#include "api.h"
#include "catalog/pg_type.h"
#include "containment.h"
#include "forward.h"

PG_FUNCTION_INFO_V1(enqueue_many_v1);
PG_FUNCTION_INFO_V1(get_v1);
PG_FUNCTION_INFO_V1(list_v1);
PG_FUNCTION_INFO_V1(cancel_v1);
PG_FUNCTION_INFO_V1(resume_v1);
PG_FUNCTION_INFO_V1(signal_v1);

Datum
enqueue_many_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._enqueue_many($1, $2)",
		.takes_caller = true,
		.types = {REGROLEOID, JSONBOID},
	};

	return forward_set(fcinfo, &statement);
}

Datum
get_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._get($1, $2, $3)",
		.takes_caller = true,
		.types = {REGROLEOID, UUIDOID, TEXTOID},
	};

	return forward_set(fcinfo, &statement);
}

Datum
list_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._list($1, $2, $3, $4, $5)",
		.takes_caller = true,
		.types = {REGROLEOID, TEXTOID, TEXTOID, UUIDOID, INT4OID},
	};

	return forward_set(fcinfo, &statement);
}

Datum
cancel_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._cancel($1, $2, $3, $4)",
		.takes_caller = true,
		.types = {REGROLEOID, UUIDOID, TEXTOID, TEXTOID},
	};

	containment_refuse_in_tool("cancel()");
	return forward_value(fcinfo, &statement);
}

Datum
resume_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._resume($1, $2, $3, $4, $5, $6, $7)",
		.takes_caller = true,
		.types = {REGROLEOID, UUIDOID, TEXTOID, JSONBOID, TEXTOID, TEXTOID, TEXTOID},
	};

	/* code must not approve for itself */
	containment_refuse_in_tool("resume()");
	return forward_value(fcinfo, &statement);
}

Datum
signal_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._signal($1, $2, $3, $4)",
		.takes_caller = true,
		.types = {REGROLEOID, TEXTOID, JSONBOID, TEXTOID},
	};

	containment_refuse_in_tool("signal()");
	return forward_value(fcinfo, &statement);
}
