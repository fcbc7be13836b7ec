/*
 * error_text.h
 *		What becomes of an error that nobody caught.
 */
#ifndef SANDBOX_EXEC_ERROR_TEXT_H
#define SANDBOX_EXEC_ERROR_TEXT_H

#include "lua.h"

/*
 * Message handler for the main function: keeps a traceback aside and returns
 * the error as it is, since it also sees errors that load() then catches.
 */
extern int	error_traceback(lua_State *L);

/*
 * Turn the error on top of the stack into the outcome, with this code unless it
 * brings its own, and print it with its traceback to stderr.
 */
extern void error_outcome(lua_State *L, const char *code);

#endif
