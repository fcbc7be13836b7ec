/*
 * arguments.c
 *		From a JSON object to the arguments of a function.
 *
 * The conversion is that of jsonb_populate_record(): the arguments are a record
 * whose columns are named and typed as the function's parameters are.  So JSON
 * means the same here as in the rest of the server: arrays, composites and
 * domains included, numbers exact, null is null.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "arguments.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------ signature */

static const char *
unfit(Form_pg_proc function)
{
	if (function->prokind != PROKIND_FUNCTION)
		return "It is not a plain function.";
	if (OidIsValid(function->provariadic))
		return "It is VARIADIC.";
	if (function->prorettype != VOIDOID && function->prorettype != RECORDOID &&
		get_typtype(function->prorettype) == TYPTYPE_PSEUDO)
		return "It returns a pseudo-type.";
	return NULL;
}

Signature *
arguments_signature(HeapTuple function, const char **reason)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(function);
	Signature  *signature = palloc0(sizeof(Signature));
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			all = get_func_arg_info(function, &types, &names, &modes);
	int			i;

	*reason = unfit(form);
	signature->names = palloc(sizeof(char *) * (all + 1));
	signature->types = palloc(sizeof(Oid) * (all + 1));
	for (i = 0; i < all && *reason == NULL; i++)
	{
		if (modes && modes[i] != PROARGMODE_IN && modes[i] != PROARGMODE_INOUT)
			continue;
		if (names == NULL || names[i][0] == '\0')
			*reason = "It has an argument without a name.";
		else if (get_typtype(types[i]) == TYPTYPE_PSEUDO)
			*reason = "It has an argument of a pseudo-type.";
		else
		{
			signature->names[signature->count] = names[i];
			signature->types[signature->count++] = types[i];
		}
	}
	signature->required = signature->count - form->pronargdefaults;
	return *reason ? NULL : signature;
}

char *
arguments_text(const Signature *signature)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < signature->count; i++)
		appendStringInfo(&text, "%s%s %s%s", i > 0 ? ", " : "", signature->names[i],
						 format_type_be(signature->types[i]),
						 i < signature->required ? "" : " (optional)");
	return text.data;
}

/* ----------------------------------------------------------- conversion */

/* a record of nulls: what is not in the JSON keeps that, whatever its type */
static HeapTuple
empty_record(TupleDesc desc)
{
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	memset(nulls, true, sizeof(bool) * desc->natts);
	return heap_form_tuple(desc, values, nulls);
}

/* jsonb_populate_record(), which asks the expression that calls it for types */
static HeapTupleHeader
populate(TupleDesc desc, Jsonb *json)
{
	List	   *types = list_make2(makeNullConst(RECORDOID, -1, InvalidOid),
								   makeNullConst(JSONBOID, -1, InvalidOid));
	LOCAL_FCINFO(fcinfo, 2);
	FmgrInfo	function;

	fmgr_info(F_JSONB_POPULATE_RECORD, &function);
	fmgr_info_set_expr((Node *) makeFuncExpr(F_JSONB_POPULATE_RECORD, RECORDOID, types, InvalidOid,
											 InvalidOid, COERCE_EXPLICIT_CALL),
					   &function);
	InitFunctionCallInfoData(*fcinfo, &function, 2, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = HeapTupleGetDatum(empty_record(desc));
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = JsonbPGetDatum(json);
	fcinfo->args[1].isnull = false;
	return DatumGetHeapTupleHeader(FunctionCallInvoke(fcinfo));
}

/*
 * One record type for a function, whichever arguments are given: the server
 * remembers each for the life of the process.
 */
static TupleDesc
record_type(int count, char **names, Oid *types)
{
	TupleDesc	desc = CreateTemplateTupleDesc(count);
	int			i;

	for (i = 0; i < count; i++)
		TupleDescInitEntry(desc, i + 1, names[i], types[i], -1, 0);
	return BlessTupleDesc(desc);
}

JsonbValue *
arguments_member(JsonbContainer *object, const char *name)
{
	return getKeyJsonValueFromContainer(object, name, strlen(name), NULL);
}

void
arguments_convert(const Signature *signature, Jsonb *args, Arguments *arguments)
{
	HeapTupleData record = {0};
	TupleDesc	desc;
	int			i;

	arguments->given = palloc0(sizeof(bool) * (signature->count + 1));
	arguments->nulls = palloc0(sizeof(bool) * (signature->count + 1));
	arguments->values = palloc0(sizeof(Datum) * (signature->count + 1));
	if (args == NULL || JB_ROOT_COUNT(args) == 0)
		return;
	for (i = 0; i < signature->count; i++)
		arguments->given[i] = arguments_member(&args->root, signature->names[i]) != NULL;
	desc = record_type(signature->count, signature->names, signature->types);
	record.t_data = populate(desc, args);
	record.t_len = HeapTupleHeaderGetDatumLength(record.t_data);
	heap_deform_tuple(&record, desc, arguments->values, arguments->nulls);
}

void
arguments_try(Oid type, Jsonb *object, char *name)
{
	(void) populate(record_type(1, &name, &type), object);
}
