/*
 * identity.h
 *		Numbers that stand for objects wherever Lua would print an address.
 *
 * An address would differ between builds and say where memory lies.  An
 * object's number is handed out when the object is first printed, so it
 * depends on nothing but the program.
 */
#ifndef SANDBOX_EXEC_IDENTITY_H
#define SANDBOX_EXEC_IDENTITY_H

#include <stddef.h>

struct lua_State;

/* create the table of numbers in the state that is being prepared */
extern void identity_prepare(struct lua_State *L);

/* the object's number in the shape of a pointer; NULL for what has no address */
extern const void *identity_of(struct lua_State *L, int index);

/* snprintf for the one "%p" (or "%s") that string.format passes on */
extern int	identity_format(char *buffer, size_t size, const char *format, const void *value);

#endif
