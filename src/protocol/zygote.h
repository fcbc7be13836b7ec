/*
 * zygote.h
 *		How a worker gets runners from the program that it started.
 *
 *		worker                          zygote
 *		  start ------------------------> (prepares all that is no execution's)
 *		  {socket, output} -------------> forks: the new runner finds them open
 *		  <--------------------------- pid, or an errno made negative
 *		  {socket, output} -------------> ...
 *
 * The runner is the worker's child, not the zygote's.  The zygote never sees a
 * byte of an execution, and ends when the worker closes its end.
 */
#ifndef SANDBOX_EXEC_ZYGOTE_H
#define SANDBOX_EXEC_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>

/* the only descriptor that the program is started with */
#define ZYGOTE_FD 3

/* what a runner is born with: its socket and its output area, in this order */
#define ZYGOTE_SENT 2

/* worker: ask for a runner; false: errno says why, EPIPE that the zygote is gone */
extern bool zygote_ask(int zygote, const int sent[ZYGOTE_SENT]);

/* zygote: the next request's descriptors; false at the end */
extern bool zygote_next(int worker, int received[ZYGOTE_SENT]);

#endif
