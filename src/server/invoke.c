/*
 * invoke.c
 *		Calls a function by its oid and gives back what it returns as JSON text.
 *
 * The query SELECT to_jsonb(function(argument => $1, ...)) is put together as a
 * tree, not as text: so no other function of that name can be meant, no name
 * needs quoting, and nothing is parsed.  The planner fills in defaults and may
 * inline the function; the executor does the rest, sets included.
 *
 * What comes back is measured row by row, so that a set without end stops at
 * the limit and not when memory does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/executor.h"
#include "invoke.h"
#include "nodes/makefuncs.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "parser/parse_collate.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* a jsonb that is so many times larger than the limit has a longer text */
#define JSONB_FACTOR 16

typedef struct Receiver
{
	DestReceiver pub;
	Invocation *invocation;
	StringInfo	text;
	int			rows;
} Receiver;

/* ------------------------------------------------------------- the query */

static Node *
parameter(int number, Oid type)
{
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = number;
	param->paramtype = type;
	param->paramtypmod = -1;
	param->paramcollid = get_typcollation(type);
	param->location = -1;
	return (Node *) param;
}

/* name => $n for those that are given */
static List *
named_arguments(const Signature *signature, const Arguments *arguments)
{
	List	   *list = NIL;
	int			i;

	for (i = 0; i < signature->count; i++)
	{
		NamedArgExpr *argument;

		if (!arguments->given[i])
			continue;
		argument = makeNode(NamedArgExpr);
		argument->arg = (Expr *) parameter(i + 1, signature->types[i]);
		argument->name = signature->names[i];
		argument->argnumber = i;
		argument->location = -1;
		list = lappend(list, argument);
	}
	return list;
}

static Expr *
call_expression(const Invocation *invocation, const Signature *signature,
				const Arguments *arguments)
{
	FuncExpr   *call = makeFuncExpr(invocation->function, invocation->result_type,
									named_arguments(signature, arguments),
									InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);

	call->funcretset = invocation->returns_set;
	if (invocation->result_type == VOIDOID)
		return (Expr *) call;
	call = makeFuncExpr(F_TO_JSONB, JSONBOID, list_make1(call), InvalidOid, InvalidOid,
						COERCE_EXPLICIT_CALL);
	return (Expr *) call;
}

static PlannedStmt *
plan_call(const Invocation *invocation, const Signature *signature, const Arguments *arguments)
{
	Query	   *query = makeNode(Query);
	Expr	   *expression = call_expression(invocation, signature, arguments);

	assign_expr_collations(NULL, (Node *) expression);
	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->targetList = list_make1(makeTargetEntry(expression, 1, "value", false));
	query->hasTargetSRFs = invocation->returns_set;
	query->jointree = makeFromExpr(NIL, NULL);
	return pg_plan_query(query, "tool", 0, NULL);
}

static ParamListInfo
parameters(const Signature *signature, const Arguments *arguments)
{
	ParamListInfo list = makeParamList(signature->count);
	int			i;

	for (i = 0; i < signature->count; i++)
	{
		list->params[i].value = arguments->values[i];
		list->params[i].isnull = !arguments->given[i] || arguments->nulls[i];
		list->params[i].pflags = 0;
		list->params[i].ptype = signature->types[i];
	}
	return list;
}

/* ------------------------------------------------------------ the result */

static void
refuse_size(Invocation *invocation)
{
	invocation->too_large = true;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("result is too large"),
			 errdetail("The limit is %d bytes as JSON.", invocation->max_bytes)));
}

static void
append_value(Receiver *receiver, Datum value)
{
	Invocation *invocation = receiver->invocation;
	Jsonb	   *json = DatumGetJsonbP(value);

	if (VARSIZE(json) / JSONB_FACTOR > invocation->max_bytes)
		refuse_size(invocation);
	(void) JsonbToCString(receiver->text, &json->root, VARSIZE(json));
}

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	Receiver   *receiver = (Receiver *) self;
	Invocation *invocation = receiver->invocation;
	bool		is_null;
	Datum		value = slot_getattr(slot, 1, &is_null);

	if (invocation->returns_set && receiver->rows++ > 0)
		appendStringInfoString(receiver->text, ", ");
	if (invocation->result_type == VOIDOID)
		is_null = true;
	invocation->is_null = is_null;
	if (!is_null)
		append_value(receiver, value);
	else if (invocation->returns_set)
		appendStringInfoString(receiver->text, "null");
	if (receiver->text->len > invocation->max_bytes)
		refuse_size(invocation);
	return true;
}

static void
receiver_nothing(DestReceiver *self)
{
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

void
invoke(Invocation *invocation, const Signature *signature, const Arguments *arguments,
	   StringInfo text)
{
	Receiver	receiver = {.invocation = invocation, .text = text};
	QueryDesc  *query;

	receiver.pub.receiveSlot = receive;
	receiver.pub.rStartup = receiver_startup;
	receiver.pub.rShutdown = receiver.pub.rDestroy = receiver_nothing;
	receiver.pub.mydest = DestNone;
	invocation->is_null = true;
	if (invocation->returns_set)
		appendStringInfoChar(text, '[');
	query = CreateQueryDesc(plan_call(invocation, signature, arguments), "tool",
							GetActiveSnapshot(), InvalidSnapshot, &receiver.pub,
							parameters(signature, arguments), NULL, 0);
	ExecutorStart(query, 0);
	compat_executor_run(query, 0L);
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	if (!invocation->returns_set)
		return;
	appendStringInfoChar(text, ']');
	invocation->is_null = false;
}
