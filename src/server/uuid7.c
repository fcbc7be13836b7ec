/*
 * uuid7.c
 *		Ids of executions, calls and pauses.
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/timestamp.h"
#include "uuid7.h"

PG_FUNCTION_INFO_V1(uuid7_v1);

/*
 * A time-ordered UUID (RFC 9562, version 7): 48 bits of Unix milliseconds, 12
 * bits of the fraction, 62 random bits.  Milliseconds and fraction together
 * never repeat within a backend, so ids made in order sort in order.
 */
void
uuid7_make(pg_uuid_t *uuid)
{
	static uint64 last = 0;
	int64		us = GetCurrentTimestamp() +
		((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * USECS_PER_DAY;
	uint64		stamp = ((uint64) (us / 1000) << 12) | (uint64) ((us % 1000) * 4096 / 1000);
	int			i;

	if (stamp <= last)
		stamp = last + 1;
	last = stamp;
	if (!pg_strong_random(uuid->data, UUID_LEN))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	for (i = 0; i < 6; i++)
		uuid->data[i] = (unsigned char) (stamp >> (52 - 8 * i));
	uuid->data[6] = 0x70 | ((stamp >> 8) & 0x0f);
	uuid->data[7] = stamp & 0xff;
	uuid->data[8] = (uuid->data[8] & 0x3f) | 0x80;
}

Datum
uuid7_v1(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	uuid7_make(uuid);
	PG_RETURN_UUID_P(uuid);
}
