/*
 * channel.h
 *		Frames over one runner's socket, without ever blocking.
 *
 * The peer is hostile: a frame that is larger than it may be, or a close in the
 * middle of one, is CHANNEL_BROKEN or CHANNEL_CLOSED, and the channel is of no
 * further use.
 */
#ifndef SANDBOX_EXEC_CHANNEL_H
#define SANDBOX_EXEC_CHANNEL_H

#include "../protocol/message.h"

typedef struct Channel
{
	int			socket;
	char	   *out;			/* what remains to be sent, or NULL */
	size_t		out_length;
	size_t		out_sent;
	char	   *in;				/* received bytes, grown on demand */
	size_t		in_length;
	size_t		in_capacity;
	size_t		in_taken;		/* size of the frame last returned */
} Channel;

typedef enum ChannelResult
{
	CHANNEL_FRAME,				/* a whole frame is there */
	CHANNEL_WAIT,				/* wait until the socket is ready */
	CHANNEL_CLOSED,				/* the peer closed it: it is dead or dying */
	CHANNEL_BROKEN				/* the peer broke the protocol */
} ChannelResult;

/* memory comes from the context that is current here, and must outlive it */
extern void channel_open(Channel *channel, int socket);
extern void channel_close(Channel *channel);

/* queue a frame; it must be pallocated, and belongs to the channel from now on */
extern void channel_send(Channel *channel, char *frame, size_t size);

/* something is left to send: wait for the socket to be writeable, too */
extern bool channel_wants_write(const Channel *channel);

/*
 * Send what can be sent, receive what has come.  At CHANNEL_FRAME the type and
 * the payload are set; the payload is valid until the next call.
 */
extern ChannelResult channel_pump(Channel *channel, uint8 *type, FrameReader *payload);

#endif
