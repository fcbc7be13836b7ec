/*
 * srf.c
 *		Set-returning C functions that give back a whole set at once.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "srf.h"

Tuplestorestate *
srf_begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext outside;

	if (info == NULL || !IsA(info, ReturnSetInfo) || !(info->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	outside = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
	info->returnMode = SFRM_Materialize;
	info->setResult = tuplestore_begin_heap((info->allowedModes & SFRM_Materialize_Random) != 0,
											false, work_mem);
	MemoryContextSwitchTo(outside);
	return info->setResult;
}

TupleDesc
srf_row_type(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext outside = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "unexpected result type");
	desc = CreateTupleDescCopy(desc);
	MemoryContextSwitchTo(outside);
	return desc;
}
