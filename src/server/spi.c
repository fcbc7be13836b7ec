/*
 * spi.c
 *		Small conveniences over SPI.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "jit/jit.h"
#include "optimizer/cost.h"
#include "spi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* the plan of a statement, made and kept at the first time */
static SPIPlanPtr
prepared(SPIPlanPtr *plan, const char *sql, int nargs, Oid *types)
{
	if (*plan == NULL)
	{
		SPIPlanPtr	made = SPI_prepare(sql, nargs, types);

		if (made == NULL)
			elog(ERROR, "could not prepare \"%s\": %s", sql, SPI_result_code_string(SPI_result));
		if (SPI_keepplan(made) != 0)
			elog(ERROR, "could not keep the plan of \"%s\"", sql);
		*plan = made;
	}
	return *plan;
}

static void
run(SPIPlanPtr plan, const char *sql, Datum *values, const char *nulls, bool read_only)
{
	int			rc = SPI_execute_plan(plan, values, nulls, read_only, 0);

	if (rc < 0)
		elog(ERROR, "could not execute \"%s\": %s", sql, SPI_result_code_string(rc));
}

void
spi_execute(SPIPlanPtr *plan, const char *sql, int nargs, Oid *types,
			Datum *values, const char *nulls)
{
	run(prepared(plan, sql, nargs, types), sql, values, nulls, false);
}

/*
 * Only the planner reads these two, so that there is no need to go through the
 * settings of which they are the values.  A sequential scan that cannot be
 * avoided looks so expensive that it would be compiled.
 */
typedef struct PlannerChoice
{
	bool		seqscan;
	bool		jit;
} PlannerChoice;

static PlannerChoice
prefer_indexes(void)
{
	PlannerChoice before = {enable_seqscan, jit_enabled};

	enable_seqscan = jit_enabled = false;
	return before;
}

static void
restore_choice(const PlannerChoice *before)
{
	enable_seqscan = before->seqscan;
	jit_enabled = before->jit;
}

void
spi_execute_indexed(SPIPlanPtr *plan, const char *sql, int nargs, Oid *types,
					Datum *values, const char *nulls)
{
	PlannerChoice before = prefer_indexes();

	PG_TRY();
	{
		spi_execute(plan, sql, nargs, types, values, nulls);
	}
	PG_FINALLY();
	{
		restore_choice(&before);
	}
	PG_END_TRY();
}

Datum
spi_call_indexed(Oid function, int nargs, const Datum *values, const char *nulls)
{
	LOCAL_FCINFO(fcinfo, SPI_CALL_ARGS);
	FmgrInfo	info;
	PlannerChoice before;
	Datum		result;
	int			i;

	Assert(nargs <= SPI_CALL_ARGS);
	fmgr_info(function, &info);
	InitFunctionCallInfoData(*fcinfo, &info, nargs, DEFAULT_COLLATION_OID, NULL, NULL);
	for (i = 0; i < nargs; i++)
	{
		fcinfo->args[i].value = values[i];
		fcinfo->args[i].isnull = nulls[i] == 'n';
	}
	before = prefer_indexes();
	PG_TRY();
	{
		result = FunctionCallInvoke(fcinfo);
	}
	PG_FINALLY();
	{
		restore_choice(&before);
	}
	PG_END_TRY();
	if (fcinfo->isnull)
		elog(ERROR, "function %u returned null", function);
	return result;
}

void
spi_look(SPIPlanPtr *plan, const char *sql, int nargs, Oid *types,
		 Datum *values, const char *nulls)
{
	run(prepared(plan, sql, nargs, types), sql, values, nulls, true);
}

bool
spi_found(void)
{
	return SPI_processed > 0;
}

SpiRow
spi_only_row(void)
{
	SpiRow		row;

	if (SPI_processed != 1)
		elog(ERROR, "expected one row, got " UINT64_FORMAT, SPI_processed);
	row.tuple = SPI_tuptable->vals[0];
	row.desc = SPI_tuptable->tupdesc;
	return row;
}

static int
column_number(const SpiRow *row, const char *column)
{
	int			number = SPI_fnumber(row->desc, column);

	if (number == SPI_ERROR_NOATTRIBUTE)
		elog(ERROR, "the result has no column \"%s\"", column);
	return number;
}

Datum
spi_datum(const SpiRow *row, const char *column)
{
	int			number = column_number(row, column);
	bool		isnull;
	Datum		value = SPI_getbinval(row->tuple, row->desc, number, &isnull);
	int16		length;
	bool		by_value;

	if (isnull)
		elog(ERROR, "column \"%s\" is null", column);
	get_typlenbyval(SPI_gettypeid(row->desc, number), &length, &by_value);
	return datumCopy(value, by_value, length);
}

char *
spi_text(const SpiRow *row, const char *column)
{
	int			number = column_number(row, column);
	bool		isnull;
	Datum		value;

	if (SPI_gettypeid(row->desc, number) != TEXTOID)
		return SPI_getvalue(row->tuple, row->desc, number);
	value = SPI_getbinval(row->tuple, row->desc, number, &isnull);
	return isnull ? NULL : TextDatumGetCString(value);
}
