/*
 * jsontext.c
 *		JSON text on its way to jsonb.
 */
#include "postgres.h"

#include "access/xact.h"
#include "jsontext.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/resowner.h"

Jsonb *
jsontext_to_jsonb(const char *text)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

Jsonb *
jsontext_try(const char *text, char **message)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	Jsonb *volatile json = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		json = jsontext_to_jsonb(text);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		*message = psprintf("%s%s%s", error->message, error->detail ? ": " : "",
							error->detail ? error->detail : "");
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return json;
}

Datum
jsontext_datum(const char *text, char *null)
{
	*null = text ? ' ' : 'n';
	return text ? JsonbPGetDatum(jsontext_to_jsonb(text)) : (Datum) 0;
}
