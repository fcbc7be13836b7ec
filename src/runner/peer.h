/*
 * peer.h
 *		The socket to the worker, frame by frame.
 *
 * The worker is trusted to speak the protocol; when it does not, or is gone,
 * there is nothing left to do, and the process ends.
 */
#ifndef SANDBOX_EXEC_PEER_H
#define SANDBOX_EXEC_PEER_H

#include "../protocol/message.h"

#include <stdnoreturn.h>

/* frames are built here; large enough for any that the runner sends */
#define PEER_OUTBOX_SIZE (FRAME_HEADER_SIZE + MAX_RUNNER_PAYLOAD)

extern uint8_t peer_outbox[PEER_OUTBOX_SIZE];

/* send the frame of that size from the outbox; 0, a frame without room, ends the process */
extern void peer_send(size_t size);

/*
 * Wait for a frame of that type.  The payload's texts are valid until the next
 * call: the frame before is dropped now.
 */
extern void peer_receive(uint8_t type, FrameReader *payload);

/* as above, of any type */
extern uint8_t peer_receive_any(FrameReader *payload);

/* nothing can go on in this attempt: say so, and wait to be killed */
extern noreturn void peer_suspend(void);

/* bytes of memory that were touched by receiving */
extern size_t peer_touched(void);

#endif
