/*
 * serve.h
 *		What the worker asks of a runner that stands locked down.
 */
#ifndef SANDBOX_EXEC_SERVE_H
#define SANDBOX_EXEC_SERVE_H

/* run what is sent until a DONE was this process's last word; area as mapped */
extern void serve(void *area);

#endif
