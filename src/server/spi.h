/*
 * spi.h
 *		Small conveniences over SPI: kept plans and columns by name.
 */
#ifndef SANDBOX_EXEC_SPI_H
#define SANDBOX_EXEC_SPI_H

#include "executor/spi.h"

/* one row of a result; the tuple belongs to SPI */
typedef struct SpiRow
{
	HeapTuple	tuple;
	TupleDesc	desc;
} SpiRow;

/*
 * Run a statement, preparing and keeping its plan at the first time.  nulls is
 * as SPI_execute_plan takes it.  The result is in SPI_tuptable.  An unexpected
 * SPI result is an ERROR.
 */
extern void spi_execute(SPIPlanPtr *plan, const char *sql, int nargs,
						Oid *types, Datum *values, const char *nulls);

/*
 * The same for a statement that finds its rows by indexes, however small the
 * tables are when it is planned: the plan is kept, and they grow.  A function
 * with settings would do it, too, for the price of another query.
 */
extern void spi_execute_indexed(SPIPlanPtr *plan, const char *sql, int nargs,
								Oid *types, Datum *values, const char *nulls);

/*
 * The same for a PL/pgSQL function without settings: its statements are kept by
 * it, and need none around them.  ERROR when it returns null.
 */
#define SPI_CALL_ARGS 11
extern Datum spi_call_indexed(Oid function, int nargs, const Datum *values, const char *nulls);

/*
 * The same as spi_execute() for a statement that only reads, under the active snapshot: unlike
 * spi_execute(), which under REPEATABLE READ sees what the transaction saw at
 * first, whatever snapshot is active.
 */
extern void spi_look(SPIPlanPtr *plan, const char *sql, int nargs,
					 Oid *types, Datum *values, const char *nulls);

/* whether the result has a row */
extern bool spi_found(void);

/* the result's only row; ERROR when there is not exactly one */
extern SpiRow spi_only_row(void);

/*
 * A column's value, copied to the current context unless by value; an ERROR
 * when it is null or absent.
 */
extern Datum spi_datum(const SpiRow *row, const char *column);

/* a column's text form in the current context, NULL when it is null */
extern char *spi_text(const SpiRow *row, const char *column);

#endif
