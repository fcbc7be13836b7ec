/*
 * problems.c
 *		What is wrong with the arguments of a call: everything, with its path.
 *
 * The conversion (arguments.c) stops at the first bad value and doesn't say
 * where that lies.  Only when it failed the values are tried one by one, deeper
 * and deeper; the ordinary call doesn't pay for that.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "problems.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/typcache.h"

/* tries to convert a value, for all that is wrong: then the whole is to blame */
#define TRIES_MAX 2000

static bool
is_enough(const Problems *problems)
{
	return problems->count >= PROBLEMS_TOLD || problems->tries >= TRIES_MAX;
}

static void
add_problem(Problems *problems, const char *path, const char *what)
{
	char	   *line = psprintf("%s: %s", path, what);

	if (problems->count++ == 0)
	{
		problems->first = line;
		initStringInfo(&problems->lines);
	}
	appendStringInfo(&problems->lines, "%s%s", problems->count > 1 ? "\n" : "", line);
}

static char *
field_path(const char *path, const char *name)
{
	return path ? psprintf("%s.%s", path, name) : pstrdup(name);
}

static bool
is_container(const JsonbValue *value, uint32 kind)
{
	return value->type == jbvBinary && (value->val.binary.data->header & kind) != 0;
}

/* the type of the elements; InvalidOid for what is no array */
static Oid
element_type(Oid type)
{
	return get_element_type(getBaseType(type));
}

/* the columns of a composite, or NULL; to be released */
static TupleDesc
columns_of(Oid type)
{
	Oid			base = getBaseType(type);

	return get_typtype(base) == TYPTYPE_COMPOSITE ? lookup_rowtype_tupdesc(base, -1) : NULL;
}

/*
 * The type of an element: one of an array of several dimensions is an array of
 * the same type.
 */
static Oid
type_of_element(Oid array, Oid element, const JsonbValue *value)
{
	if (is_container(value, JB_FARRAY) && element != JSONBOID && element != JSONOID)
		return array;
	return element;
}

/* how deep that is in it; deeper than MAXDIM there is nothing that converts */
static int
depth_of_element(int depth, Oid array, Oid type)
{
	return type == array ? depth + 1 : 1;
}

/* ------------------------------------------------------- unknown names */

static void check_fields(const char *path, Oid type, JsonbValue *value, int depth,
						 Problems *problems);

/* a composite, or an array of such */
static bool
has_fields(Oid type)
{
	Oid			element = element_type(type);

	return OidIsValid(element) ? has_fields(element) :
								 get_typtype(getBaseType(type)) == TYPTYPE_COMPOSITE;
}

static int
find_column(TupleDesc columns, const char *name)
{
	int			i;

	for (i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (!column->attisdropped && strcmp(NameStr(column->attname), name) == 0)
			return i;
	}
	return -1;
}

static void
check_object(const char *path, TupleDesc columns, JsonbContainer *object, Problems *problems)
{
	JsonbIterator *walk = JsonbIteratorInit(object);
	JsonbValue	item;
	JsonbIteratorToken token;
	char	   *inner = NULL;
	int			column = -1;

	while (!is_enough(problems) && (token = JsonbIteratorNext(&walk, &item, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			char	   *name = pnstrdup(item.val.string.val, item.val.string.len);

			inner = field_path(path, name);
			column = find_column(columns, name);
			if (column < 0)
				add_problem(problems, inner, "there is no such field");
			pfree(name);
		}
		else if (token == WJB_VALUE)
		{
			if (column >= 0)
				check_fields(inner, TupleDescAttr(columns, column)->atttypid, &item, 1, problems);
			pfree(inner);
		}
	}
}

static void
check_elements(const char *path, Oid type, JsonbContainer *array, int depth, Problems *problems)
{
	Oid			element = element_type(type);
	uint32		i;

	for (i = 0; i < JsonContainerSize(array) && !is_enough(problems); i++)
	{
		JsonbValue *item = getIthJsonbValueFromContainer(array, i);
		Oid			inner = type_of_element(type, element, item);

		CHECK_FOR_INTERRUPTS();
		if (item->type == jbvBinary)
		{
			char	   *item_path = psprintf("%s[%u]", path, i);

			check_fields(item_path, inner, item, depth_of_element(depth, type, inner), problems);
			pfree(item_path);
		}
		pfree(item);
	}
}

/* fields that a composite doesn't have: the server would ignore them in silence */
static void
check_fields(const char *path, Oid type, JsonbValue *value, int depth, Problems *problems)
{
	TupleDesc	columns;

	check_stack_depth();
	if (value->type != jbvBinary || depth > MAXDIM || !has_fields(type))
		return;
	if (OidIsValid(element_type(type)))
	{
		if (is_container(value, JB_FARRAY))
			check_elements(path, type, value->val.binary.data, depth, problems);
	}
	else if (is_container(value, JB_FOBJECT) && (columns = columns_of(type)) != NULL)
	{
		check_object(path, columns, value->val.binary.data, problems);
		ReleaseTupleDesc(columns);
	}
}

static bool
has_name(const Signature *signature, const JsonbValue *name)
{
	int			i;

	for (i = 0; i < signature->count; i++)
		if (strlen(signature->names[i]) == name->val.string.len &&
			memcmp(signature->names[i], name->val.string.val, name->val.string.len) == 0)
			return true;
	return false;
}

static void
check_unknown(const Signature *signature, Jsonb *args, Problems *problems)
{
	JsonbIterator *walk = JsonbIteratorInit(&args->root);
	JsonbValue	item;
	JsonbIteratorToken token;

	while (!is_enough(problems) && (token = JsonbIteratorNext(&walk, &item, true)) != WJB_DONE)
		if (token == WJB_KEY && !has_name(signature, &item))
			add_problem(problems, pnstrdup(item.val.string.val, item.val.string.len),
						"there is no such argument");
}

void
problems_check(const Signature *signature, Jsonb *args, Problems *problems)
{
	uint32		known = 0;
	int			i;

	memset(problems, 0, sizeof(Problems));
	for (i = 0; i < signature->count; i++)
	{
		JsonbValue *value = args ? arguments_member(&args->root, signature->names[i]) : NULL;

		if (value != NULL)
		{
			known++;
			check_fields(signature->names[i], signature->types[i], value, 1, problems);
		}
		else if (i < signature->required)
			add_problem(problems, signature->names[i],
						psprintf("this argument (%s) is missing", format_type_be(signature->types[i])));
	}
	if (args != NULL && known < JB_ROOT_COUNT(args))
		check_unknown(signature, args, problems);
}

/* -------------------------------------------------------------- probing */

/* elements of an array */
typedef struct Slice
{
	JsonbContainer *array;
	uint32		from;
	uint32		to;
} Slice;

static char *value_name = "value";

static void
push_key(JsonbParseState **state)
{
	JsonbValue	key = {.type = jbvString};

	key.val.string.val = value_name;
	key.val.string.len = strlen(value_name);
	(void) pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	(void) pushJsonbValue(state, WJB_KEY, &key);
}

/* {"value": ...}, of a value or of a slice */
static Jsonb *
object_of(JsonbValue *value, const Slice *slice)
{
	JsonbParseState *state = NULL;
	uint32		i;

	push_key(&state);
	if (slice == NULL)
		(void) pushJsonbValue(&state, WJB_VALUE, value);
	else
	{
		(void) pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
		for (i = slice->from; i < slice->to; i++)
			(void) pushJsonbValue(&state, WJB_ELEM, getIthJsonbValueFromContainer(slice->array, i));
		(void) pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	}
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}

/*
 * Whether an ERROR is about the value.  What the server is short of, or who
 * wants to stop it, is about something else.
 */
static bool
is_about_value(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case MAKE_SQLSTATE('4', '0', '0', '0', '0'):
		case MAKE_SQLSTATE('5', '3', '0', '0', '0'):
		case MAKE_SQLSTATE('5', '7', '0', '0', '0'):
		case MAKE_SQLSTATE('5', '8', '0', '0', '0'):
		case MAKE_SQLSTATE('X', 'X', '0', '0', '0'):
			return false;
	}
	return true;
}

/*
 * NULL when it converts, else what is wrong.  What a try takes is given back at
 * its end: a long array takes many.
 */
static char *
try_value(Oid type, JsonbValue *value, const Slice *slice, Problems *problems)
{
	MemoryContext outside = CurrentMemoryContext;
	MemoryContext inside = AllocSetContextCreate(outside, "sandbox_exec probe", ALLOCSET_SMALL_SIZES);
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;
	char	   *message;

	CHECK_FOR_INTERRUPTS();
	problems->tries++;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(inside);
	PG_TRY();
	{
		arguments_try(type, object_of(value, slice), value_name);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(inside);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outside);
	CurrentResourceOwner = owner;
	if (error != NULL && !is_about_value(error))
		ReThrowError(error);
	message = error ? pstrdup(error->message) : NULL;
	MemoryContextDelete(inside);
	return message;
}

static void probe(const char *path, Oid type, JsonbValue *value, int depth, Problems *problems);

/* halves, and halves of those that don't convert: a long array takes few tries */
static void
probe_slice(const char *path, Oid type, const Slice *slice, int depth, Problems *problems)
{
	uint32		middle = slice->from + (slice->to - slice->from) / 2;
	Slice		halves[2] = {
		{slice->array, slice->from, middle}, {slice->array, middle, slice->to}};
	JsonbValue *item;
	Oid			inner;
	int			i;

	if (slice->to - slice->from == 1)
	{
		item = getIthJsonbValueFromContainer(slice->array, slice->from);
		inner = type_of_element(type, element_type(type), item);
		probe(psprintf("%s[%u]", path, slice->from), inner, item,
			  depth_of_element(depth, type, inner), problems);
		return;
	}
	for (i = 0; i < 2 && !is_enough(problems); i++)
		if (halves[i].from < halves[i].to && try_value(type, NULL, &halves[i], problems) != NULL)
			probe_slice(path, type, &halves[i], depth, problems);
}

static void
probe_fields(const char *path, TupleDesc columns, JsonbContainer *object, Problems *problems)
{
	int			i;

	for (i = 0; i < columns->natts && !is_enough(problems); i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		JsonbValue *value = NULL;

		if (!column->attisdropped)
			value = arguments_member(object, NameStr(column->attname));
		if (value != NULL)
			probe(field_path(path, NameStr(column->attname)), column->atttypid, value, 1, problems);
	}
	ReleaseTupleDesc(columns);
}

/* null is fine for every type, and a string may be a literal of any */
static bool
should_be_object(Oid type, const JsonbValue *value)
{
	return get_typtype(getBaseType(type)) == TYPTYPE_COMPOSITE &&
		value->type != jbvNull && value->type != jbvString && !is_container(value, JB_FOBJECT);
}

/* the problem lies in a part of the value, or else in the whole */
static void
probe(const char *path, Oid type, JsonbValue *value, int depth, Problems *problems)
{
	char	   *message = try_value(type, value, NULL, problems);
	int			before = problems->count;
	TupleDesc	columns;

	check_stack_depth();
	if (message == NULL)
		return;
	if (should_be_object(type, value))
		message = "expected JSON object";	/* the server names a function of its own */
	if (OidIsValid(element_type(type)) && is_container(value, JB_FARRAY) && depth <= MAXDIM)
	{
		Slice		all = {value->val.binary.data, 0, JsonContainerSize(value->val.binary.data)};

		probe_slice(path, getBaseType(type), &all, depth, problems);
	}
	else if (is_container(value, JB_FOBJECT) && (columns = columns_of(type)) != NULL)
		probe_fields(path, columns, value->val.binary.data, problems);
	if (problems->count == before)
		add_problem(problems, path, message);
}

void
problems_probe(const Signature *signature, Jsonb *args, Problems *problems)
{
	int			i;

	for (i = 0; i < signature->count && args != NULL && !is_enough(problems); i++)
	{
		JsonbValue *value = arguments_member(&args->root, signature->names[i]);

		if (value != NULL)
			probe(signature->names[i], signature->types[i], value, 1, problems);
	}
}
