/*
 * runner_client.h
 *		A worker's side of the protocol, for tests of the real runner program.
 */
#ifndef RUNNER_CLIENT_H
#define RUNNER_CLIENT_H

#include <sys/types.h>

#include "../../src/protocol/ahead.h"
#include "../../src/protocol/message.h"
#include "../../src/protocol/outlog.h"

typedef struct RunnerClient
{
	pid_t		pid;
	int			socket;
	void	   *area;
	ReadyMessage ready;
	uint8_t    *inbox;
	size_t		inbox_used;
	size_t		inbox_taken;	/* of that, the frame that was read last */
} RunnerClient;

/* how to start it; runner_client_defaults() fills in what a worker would */
typedef struct RunnerOptions
{
	const char *program;
	const char *protocol;
	const char *version;
	const char *parent;			/* NULL: this process */
	const char *memory_kb;
	const char *seccomp;
} RunnerOptions;

extern RunnerOptions runner_client_defaults(void);

/* start it without waiting for READY; false when it couldn't be started */
extern bool runner_client_spawn(RunnerClient *c, const RunnerOptions *options);

/* wait for READY; false when the runner ended or said something else */
extern bool runner_client_await_ready(RunnerClient *c);

/* a request with ordinary limits for that code */
extern RunMessage runner_client_request(const char *code);

/* send it */
extern bool runner_client_send(RunnerClient *c, const RunMessage *request);

/* several at once, and what the runner leaves of them */
extern bool runner_client_send_burst(RunnerClient *c, const RunMessage *requests, int count);
extern Ahead *runner_client_ahead(RunnerClient *c);

/* wait for DONE; its texts stay valid until the next call; false at the end */
extern bool runner_client_receive(RunnerClient *c, DoneMessage *done);

/* wait for CALL; as above */
extern bool runner_client_receive_call(RunnerClient *c, CallMessage *call);

/* what the runner says next, by its type; texts are valid until the next call */
typedef struct RunnerSays
{
	uint8_t		type;			/* MESSAGE_CALL, _SUSPEND, _DROPPED or _DONE; 0: nothing more, or nonsense */
	CallMessage call;
	DoneMessage done;
} RunnerSays;

extern RunnerSays runner_client_listen(RunnerClient *c);

/* answer its call */
extern bool runner_client_answer(RunnerClient *c, const ReturnMessage *answer);

/* what the code printed to that stream, as a string to free() */
extern char *runner_client_output(RunnerClient *c, OutlogStream stream, bool *truncated);

/* kill it and free everything; returns the wait status */
extern int	runner_client_end(RunnerClient *c);

#endif
