/*
 * extension.h
 *		The extension as the catalog of this database has it.
 */
#ifndef SANDBOX_EXEC_EXTENSION_H
#define SANDBOX_EXEC_EXTENSION_H

typedef struct Extension
{
	Oid			oid;			/* InvalidOid: it is not there */
	Oid			owner;
	bool		known_version;	/* that of this library */
} Extension;

/* looks anew each time, in a transaction; locks nothing */
extern Extension extension_look(void);

#endif
