/*
 * forward.c
 *		Entry points that forward to a SQL function.
 */
#include "postgres.h"

#include "caller.h"
#include "forward.h"
#include "funcapi.h"
#include "spi.h"
#include "srf.h"
#include "utils/lsyscache.h"

/* run it with the entry point's arguments, as the extension's owner */
static void
run_statement(Statement *statement, FunctionCallInfo fcinfo, const Caller *caller)
{
	Datum		values[FORWARD_MAX_ARGS];
	char		nulls[FORWARD_MAX_ARGS];
	int			count = 0;
	int			i;

	if (statement->takes_caller)
	{
		values[count] = ObjectIdGetDatum(caller->user);
		nulls[count++] = ' ';
	}
	for (i = 0; i < PG_NARGS(); i++)
	{
		values[count] = PG_ARGISNULL(i) ? (Datum) 0 : PG_GETARG_DATUM(i);
		nulls[count++] = PG_ARGISNULL(i) ? 'n' : ' ';
	}
	spi_execute(&statement->plan, statement->sql, count, statement->types, values, nulls);
}

/* forward a function that returns one value */
Datum
forward_value(FunctionCallInfo fcinfo, Statement *statement)
{
	Caller		caller = caller_enter();
	SpiRow		row;
	Datum		value;
	int16		length;
	bool		by_value;

	SPI_connect();
	run_statement(statement, fcinfo, &caller);
	row = spi_only_row();
	value = SPI_getbinval(row.tuple, row.desc, 1, &fcinfo->isnull);
	if (!fcinfo->isnull)
	{
		get_typlenbyval(SPI_gettypeid(row.desc, 1), &length, &by_value);
		value = SPI_datumTransfer(value, by_value, length);
	}
	SPI_finish();
	caller_leave(&caller);
	return value;
}

/* forward a function that returns a set */
Datum
forward_set(FunctionCallInfo fcinfo, Statement *statement)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	Tuplestorestate *rows = srf_begin(fcinfo);
	Caller		caller = caller_enter();
	MemoryContext outside;
	uint64		i;

	SPI_connect();
	run_statement(statement, fcinfo, &caller);
	outside = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
	info->setDesc = CreateTupleDescCopy(SPI_tuptable->tupdesc);
	MemoryContextSwitchTo(outside);
	for (i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rows, SPI_tuptable->vals[i]);
	SPI_finish();
	caller_leave(&caller);
	return (Datum) 0;
}
