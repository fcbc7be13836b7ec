/*
 * resolve.c
 *		Which function a signature means, as SQL found it before.
 */
#include "postgres.h"

#include "resolve.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* longer ones are looked up each time */
#define SIGNATURE_MAX 256

/* more at a time are more than any code calls */
#define MAX_KNOWN 256

typedef struct Known
{
	char		signature[SIGNATURE_MAX];
	Oid			function;
	uint64		generation;		/* holds while that is the present one */
} Known;

static HTAB *known = NULL;
static uint64 changes = 0;

/* a function, a schema or a type was made, changed or dropped */
static void
note_change(Datum arg, int cache, uint32 hash)
{
	changes++;
}

static void
make_table(void)
{
	HASHCTL		control = {0};

	control.keysize = SIGNATURE_MAX;
	control.entrysize = sizeof(Known);
	control.hcxt = TopMemoryContext;
	known = hash_create("sandbox_exec functions", 32, &control,
						HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
}

static void
watch_catalog(void)
{
	static bool watching = false;

	if (watching)
		return;
	watching = true;
	CacheRegisterSyscacheCallback(PROCOID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, note_change, (Datum) 0);
}

uint64
resolve_generation(void)
{
	watch_catalog();
	return changes;
}

Oid
resolve_known(const char *signature)
{
	Known	   *entry;

	if (known == NULL || strlen(signature) >= SIGNATURE_MAX)
		return InvalidOid;
	entry = hash_search(known, signature, HASH_FIND, NULL);
	return entry && entry->generation == changes ? entry->function : InvalidOid;
}

void
resolve_remember(const char *signature, Oid function, uint64 generation)
{
	Known	   *entry;

	if (strlen(signature) >= SIGNATURE_MAX)
		return;
	if (known != NULL && hash_get_num_entries(known) >= MAX_KNOWN)
	{
		hash_destroy(known);
		known = NULL;
	}
	if (known == NULL)
		make_table();
	entry = hash_search(known, signature, HASH_ENTER, NULL);
	entry->function = function;
	entry->generation = generation;
}

Oid
resolve_own(const char *signature)
{
	Oid			function = resolve_known(signature);
	uint64		generation = resolve_generation();

	if (OidIsValid(function))
		return function;
	function = DatumGetObjectId(DirectFunctionCall1(regprocedurein, CStringGetDatum(signature)));
	resolve_remember(signature, function, generation);
	return function;
}
