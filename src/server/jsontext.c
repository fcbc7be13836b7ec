/*
 * jsontext.c
 *		JSON as text, and as the server keeps it.
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

bool
jsontext_is_plain(const char *text)
{
	int			digits = 0;

	for (; *text; text++)
	{
		if (*text == '\\')
			return false;
		if (*text < '0' || *text > '9')
		{
			if (digits > 0 && (*text == 'e' || *text == 'E'))
				return false;
			digits = 0;
		}
		else if (++digits > 100)
			return false;
	}
	return true;
}

static Jsonb *
in_subtransaction(const char *text, char **message)
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

Jsonb *
jsontext_try(const char *text, char **message)
{
	/* then no subtransaction is needed to find out */
	return jsontext_is_plain(text) ? jsontext_to_jsonb(text) : in_subtransaction(text, message);
}

char *
jsontext_as_recorded(const char *text)
{
	Jsonb	   *json = jsontext_to_jsonb(text);

	return JsonbToCString(NULL, &json->root, VARSIZE(json));
}

Datum
jsontext_datum(const char *text, char *null)
{
	*null = text ? ' ' : 'n';
	return text ? JsonbPGetDatum(jsontext_to_jsonb(text)) : (Datum) 0;
}
