/*
 * srf.h
 *		Set-returning C functions that give back a whole set at once.
 */
#ifndef SANDBOX_EXEC_SRF_H
#define SANDBOX_EXEC_SRF_H

#include "fmgr.h"
#include "utils/tuplestore.h"

/*
 * The store for the function's rows, handed to the executor.  An ERROR where
 * the function is called in a place that takes no set.
 */
extern Tuplestorestate *srf_begin(FunctionCallInfo fcinfo);

/* the declared row type of the result, in the query's memory */
extern TupleDesc srf_row_type(FunctionCallInfo fcinfo);

#endif
