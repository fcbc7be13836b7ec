/*
 * error_codes.h
 *		What error_code an execution ends with, as far as the runner says so.
 *
 *	code				when
 *	syntax_error		the code does not compile
 *	runtime_error		error(), assert() or the VM raised an error that nobody
 *						caught, and it names no code of its own
 *	exit				os.exit(n) with n other than 0; exit_code is n
 *	memory_limit		the memory limit was reached; code can't catch this
 *	result_invalid		what was returned has no JSON form: a function, a cycle,
 *						NaN or an infinity, text that isn't UTF-8 or holds NUL,
 *						a table that is neither list nor object, nested too
 *						deeply, or too large
 *	args_invalid		the arguments have no Lua form (nested too deeply)
 *	any other			the code raised a table whose "code" is that text, of
 *						1 to 63 bytes of UTF-8
 *
 * exit_code is 0 for what succeeded and 1 for what failed, unless os.exit says.
 */
#ifndef SANDBOX_EXEC_ERROR_CODES_H
#define SANDBOX_EXEC_ERROR_CODES_H

#define ERROR_SYNTAX "syntax_error"
#define ERROR_RUNTIME "runtime_error"
#define ERROR_EXIT "exit"
#define ERROR_MEMORY "memory_limit"
#define ERROR_RESULT "result_invalid"
#define ERROR_ARGS "args_invalid"

#endif
