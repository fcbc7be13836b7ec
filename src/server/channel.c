/*
 * channel.c
 *		Frames over one runner's socket.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "channel.h"
#include "utils/memutils.h"

#define FIRST_CAPACITY 4096

void
channel_open(Channel *channel, int socket)
{
	memset(channel, 0, sizeof(Channel));
	channel->socket = socket;
	channel->in = palloc(FIRST_CAPACITY);
	channel->in_capacity = FIRST_CAPACITY;
}

void
channel_close(Channel *channel)
{
	if (channel->out)
		pfree(channel->out);
	pfree(channel->in);
	memset(channel, 0, sizeof(Channel));
}

void
channel_send(Channel *channel, char *frame, size_t size)
{
	Assert(channel->out == NULL);
	channel->out = frame;
	channel->out_length = size;
	channel->out_sent = 0;
}

bool
channel_wants_write(const Channel *channel)
{
	return channel->out != NULL;
}

/*
 * A peer that closed its end is no error here: what it still had to say is in
 * the receive queue, and receiving reports the end.
 */
static void
send_some(Channel *channel)
{
	while (channel->out != NULL)
	{
		ssize_t		n = send(channel->socket, channel->out + channel->out_sent,
							 channel->out_length - channel->out_sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n >= 0)
			channel->out_sent += n;
		if (n < 0 || channel->out_sent == channel->out_length)
		{
			pfree(channel->out);
			channel->out = NULL;
		}
	}
}

/* drop the frame that was returned last */
static void
consume(Channel *channel)
{
	channel->in_length -= channel->in_taken;
	memmove(channel->in, channel->in + channel->in_taken, channel->in_length);
	channel->in_taken = 0;
}

static void
make_room(Channel *channel)
{
	if (channel->in_length < channel->in_capacity)
		return;
	channel->in_capacity *= 2;
	channel->in = repalloc(channel->in, channel->in_capacity);
}

static ChannelResult
look(Channel *channel, uint8 *type, FrameReader *payload)
{
	switch (frame_peek((uint8 *) channel->in, channel->in_length, MAX_RUNNER_PAYLOAD,
					   type, payload, &channel->in_taken))
	{
		case 1:
			return CHANNEL_FRAME;
		case 0:
			channel->in_taken = 0;
			return CHANNEL_WAIT;
		default:
			channel->in_taken = 0;
			return CHANNEL_BROKEN;
	}
}

ChannelResult
channel_pump(Channel *channel, uint8 *type, FrameReader *payload)
{
	consume(channel);
	send_some(channel);
	for (;;)
	{
		ChannelResult found = look(channel, type, payload);
		ssize_t		n;

		if (found != CHANNEL_WAIT)
			return found;
		make_room(channel);
		n = recv(channel->socket, channel->in + channel->in_length,
				 channel->in_capacity - channel->in_length, 0);
		if (n > 0)
			channel->in_length += n;
		else if (n == 0)
			return CHANNEL_CLOSED;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return CHANNEL_WAIT;
		else if (errno != EINTR)
			return CHANNEL_CLOSED;
	}
}
