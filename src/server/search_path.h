/*
 * search_path.h
 *		The search_path that a new session would begin with.
 */
#ifndef SANDBOX_EXEC_SEARCH_PATH_H
#define SANDBOX_EXEC_SEARCH_PATH_H

#include "utils/array.h"

/*
 * Remember the server's default: to be called where settings of roles and
 * databases, and our own, are not in force.
 */
extern void search_path_note(void);

/* the value of search_path in an array of "name=value", or NULL */
extern char *search_path_in(ArrayType *settings);

/* what a new session of that role in this database would have */
extern const char *search_path_of_session(Oid role);

#endif
