/*
 * message.h
 *		The messages between a worker and its runner, and their limits.
 *
 *		worker                          runner
 *		  start, by zygote.h -----------> (locks itself down)
 *		  <------------------------ READY
 *		  RUN --------------------------> runs the code
 *		  <------------------------- CALL   (any number of times)
 *		  RETURN ----------------------->
 *		  <------------------------- SUSPEND   (or it ends here: all that
 *		                                        the code waits for is pending)
 *		  <------------------------- DONE   (output went through outlog.h)
 *		  RUN --------------------------> ...
 *		  BURST ------------------------> several, as ahead.h says
 *
 * The runner answers each RUN with one DONE, or dies.  In between it makes calls,
 * one at a time, and does nothing until each is answered.  Else it never speaks
 * unasked after READY.  A DONE whose reusable is false is its last word: it exits.
 * So is SUSPEND: the runner then waits to be killed.
 *
 * Pure C: no allocation, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_MESSAGE_H
#define SANDBOX_EXEC_MESSAGE_H

#include "frame.h"

/* raised whenever a message or the shared output changes its form */
#define PROTOCOL_VERSION 4

/* descriptors that the runner finds open; it closes the second once mapped */
#define RUNNER_SOCKET_FD 3
#define RUNNER_OUTLOG_FD 4

/*
 * argv of the program: its name, PROTOCOL_VERSION, the extension's version, the
 * parent's pid, nice increment, largest memory limit in kB that a RUN will
 * carry, and whether seccomp is required (1) or its absence is tolerated (0).
 */
#define RUNNER_ARGC 7

/* exit codes of a zygote or a runner that could not start; the worker words the reason */
#define RUNNER_EXIT_USAGE 64	/* wrong argv or another version */
#define RUNNER_EXIT_SETUP 70	/* arena, rlimits or descriptors */
#define RUNNER_EXIT_SECCOMP 77	/* the filter could not be installed */

/* sizes in bytes (design, section 10); results are counted as JSON text */
#define MAX_CODE_BYTES (1024 * 1024)
#define MAX_ARGS_BYTES (4 * 1024 * 1024)	/* 1 MB of jsonb, printed as text */
#define MAX_RESULT_BYTES (1024 * 1024)
#define MAX_ERROR_BYTES (8 * 1024)
#define MAX_ERROR_CODE_BYTES 63
#define MAX_EXECUTION_JSON_BYTES (32 * 1024)
#define MAX_VERSION_BYTES 63
#define MAX_CALL_KIND_BYTES 15
#define MAX_CALL_NAME_CHARS 255
#define MAX_CALL_NAME_BYTES (4 * MAX_CALL_NAME_CHARS)
#define MAX_CALL_ARGS_BYTES (1024 * 1024)

/* a value of a call is printed by jsonb, which spreads it out; errors are smaller */
#define MAX_CALL_VALUE_BYTES (2 * 1024 * 1024)

#define MAX_RUN_PAYLOAD \
	(MAX_CODE_BYTES + MAX_ARGS_BYTES + MAX_EXECUTION_JSON_BYTES + 256)
#define MAX_DONE_PAYLOAD \
	(MAX_RESULT_BYTES + MAX_ERROR_BYTES + MAX_ERROR_CODE_BYTES + 256)

#define MAX_CALL_PAYLOAD \
	(MAX_CALL_ARGS_BYTES + MAX_CALL_NAME_BYTES + MAX_CALL_KIND_BYTES + 64)
#define MAX_RETURN_PAYLOAD (MAX_CALL_VALUE_BYTES + 64)

/* the larger of the two: whatever a runner sends */
#define MAX_RUNNER_PAYLOAD \
	(MAX_DONE_PAYLOAD > MAX_CALL_PAYLOAD ? MAX_DONE_PAYLOAD : MAX_CALL_PAYLOAD)

typedef enum MessageType
{
	MESSAGE_READY = 1,
	MESSAGE_RUN = 2,
	MESSAGE_DONE = 3,
	MESSAGE_CALL = 4,
	MESSAGE_RETURN = 5,
	MESSAGE_SUSPEND = 6,		/* no payload */
	MESSAGE_BURST = 7,			/* RUN frames, to be run one after another */
	MESSAGE_DROPPED = 8			/* no payload: what was left of a burst did not begin */
} MessageType;

/* the runner stands locked down and waits for work */
typedef struct ReadyMessage
{
	uint32_t	protocol_version;
	bool		seccomp;		/* the filter is in force */
	FrameText	runtime_version;	/* "Lua 5.4.9" */
} ReadyMessage;

/* run this code once, in a fresh state */
typedef struct RunMessage
{
	uint8_t		id[16];			/* seeds math.random */
	int64_t		clock_ms;		/* where the logical clock starts, Unix ms */
	int64_t		memory_limit;	/* bytes, beyond the prepared state */
	uint32_t	max_output_chars;	/* per stream */
	FrameText	execution;		/* JSON object: the global "execution" */
	FrameText	args;			/* JSON: the global "args"; absent is nil */
	FrameText	code;
} RunMessage;

/* the code asks for something from outside */
typedef struct CallMessage
{
	uint32_t	seq;			/* from 1, in the order in which the code asks */
	FrameText	kind;			/* tool, module, ask, sleep, event or child */
	FrameText	name;
	FrameText	args;			/* JSON text; absent: none */
} CallMessage;

typedef enum ReturnStatus
{
	RETURN_OK = 0,
	RETURN_ERROR = 1,			/* value is the error, an object */
	RETURN_PENDING = 2			/* an answer will come, to a later attempt */
} ReturnStatus;

/*
 * Its answer.  Answers that the code waits for at the same time reach it in the
 * order of delivered_no, which is the same in every attempt.
 */
typedef struct ReturnMessage
{
	ReturnStatus status;
	uint32_t	delivered_no;	/* 0: pending; or not journaled, and before all others */
	int64_t		clock_ms;		/* the logical clock goes on from there; 0: as it is */
	FrameText	value;			/* JSON text; absent is null */
} ReturnMessage;

/* what the code came to */
typedef struct DoneMessage
{
	bool		succeeded;
	int32_t		exit_code;
	bool		reusable;		/* false: the runner exits after this frame */
	FrameText	error_code;		/* absent when it succeeded */
	FrameText	error;			/* UTF-8 without NUL, MAX_ERROR_BYTES at most */
	FrameText	result;			/* JSON text; absent is SQL null */
} DoneMessage;

/* each returns the frame's size, or 0 when it does not fit into the buffer */
extern size_t message_put_ready(void *buffer, size_t capacity, const ReadyMessage *m);
extern size_t message_put_run(void *buffer, size_t capacity, const RunMessage *m);
extern size_t message_put_burst(void *buffer, size_t capacity, const RunMessage *runs, int count);
extern size_t message_put_call(void *buffer, size_t capacity, const CallMessage *m);
extern size_t message_put_return(void *buffer, size_t capacity, const ReturnMessage *m);
extern size_t message_put_suspend(void *buffer, size_t capacity);
extern size_t message_put_dropped(void *buffer, size_t capacity);
extern size_t message_put_done(void *buffer, size_t capacity, const DoneMessage *m);

/* each returns false when the payload is not exactly such a message, in bounds */
extern bool message_get_ready(FrameReader *payload, ReadyMessage *m);
extern bool message_get_run(FrameReader *payload, RunMessage *m);
extern bool message_get_burst(FrameReader *payload, RunMessage *next);	/* one after another */
extern bool message_get_call(FrameReader *payload, CallMessage *m);
extern bool message_get_return(FrameReader *payload, ReturnMessage *m);
extern bool message_get_suspend(FrameReader *payload);
extern bool message_get_dropped(FrameReader *payload);
extern bool message_get_done(FrameReader *payload, DoneMessage *m);

#endif
