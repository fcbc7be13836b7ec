/*
 * worker_model.h
 *		A worker and its journal in memory, for tests of replay against the real
 *		runner.
 *
 * It keeps the rule by which the server numbers answers: an immediate outcome
 * gets its delivered_no when it is journaled; what is answered later gets one
 * when the next attempt begins, in the order of answering, and is pending until
 * then.  An attempt that makes another call than the journal has is told apart.
 */
#ifndef WORKER_MODEL_H
#define WORKER_MODEL_H

#include "runner_client.h"

#define MODEL_CALLS 1000

typedef struct ModelCall
{
	char	   *kind;
	char	   *name;
	char	   *args;			/* JSON text, or NULL */
	ReturnStatus status;
	char	   *value;			/* JSON text; that of the answer until it is delivered */
	uint32_t	answered;		/* its place in the order of answering, or 0 */
	uint32_t	delivered_no;
	int64_t		clock_ms;
} ModelCall;

typedef enum AttemptEnd
{
	ATTEMPT_DONE,
	ATTEMPT_SUSPENDED,
	ATTEMPT_CRASHED,			/* by the model's own decision */
	ATTEMPT_DIVERGED,
	ATTEMPT_DIED				/* the runner ended without a word */
} AttemptEnd;

typedef struct WorkerModel WorkerModel;

struct WorkerModel
{
	const char *code;
	ModelCall	calls[MODEL_CALLS]; /* by seq - 1 */
	uint32_t	count;
	uint32_t	answered;		/* so far */
	uint32_t	delivered;		/* the last number given */
	int64_t		now_ms;

	/* a call is new, and pending: give it an outcome, or leave it */
	void (*decide)(WorkerModel *model, ModelCall *call);

	/* before (0) and after (1) a call is answered; false: crash now; may be NULL */
	bool (*between)(WorkerModel *model, int when);
	void	   *closure;

	/* of the last attempt */
	RunnerClient client;		/* stays until the next one */
	uint32_t	made;			/* calls in it */
	char		why[4096];		/* the divergence */
	bool		succeeded;
	char	   *text;			/* result, or error; NULL when it has none */
	char	   *error_code;
	char	   *output;			/* stdout */
};

extern void worker_model_begin(WorkerModel *model, const char *code);

/* deliver what was answered, start a runner and play its worker to an end */
extern AttemptEnd worker_model_attempt(WorkerModel *model);

/* the call of that seq gets an outcome at once; for decide */
extern void worker_model_settle(WorkerModel *model, ModelCall *call, ReturnStatus status, const char *value);

/* the pending call of that seq is answered; the code learns it in the next attempt */
extern void worker_model_answer(WorkerModel *model, uint32_t seq, const char *value);

extern void worker_model_end(WorkerModel *model);

#endif
