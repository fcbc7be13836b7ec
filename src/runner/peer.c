/*
 * peer.c
 *		The socket to the worker, frame by frame.
 *
 * After lock-down, read and write on this socket are all the system calls that
 * are left, besides the one that ends the process.
 */
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_PAYLOAD \
	(MAX_RUN_PAYLOAD > MAX_RETURN_PAYLOAD ? MAX_RUN_PAYLOAD : MAX_RETURN_PAYLOAD)

uint8_t		peer_outbox[PEER_OUTBOX_SIZE];

/* bytes beyond the frame at hand belong to the next */
static uint8_t inbox[FRAME_HEADER_SIZE + MAX_PAYLOAD];
static size_t used;
static size_t taken;			/* size of the frame at hand */
static size_t touched;

void
peer_send(size_t size)
{
	size_t		sent = 0;

	if (size == 0)
		_exit(RUNNER_EXIT_SETUP);
	while (sent < size)
	{
		ssize_t		n = write(RUNNER_SOCKET_FD, peer_outbox + sent, size - sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		sent += (size_t) n;
	}
}

/* the end of the socket is the ordinary end of this process */
static void
read_more(void)
{
	ssize_t		n = read(RUNNER_SOCKET_FD, inbox + used, sizeof(inbox) - used);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0)
		_exit(0);
	used += (size_t) n;
	if (used > touched)
		touched = used;
}

uint8_t
peer_receive_any(FrameReader *payload)
{
	uint8_t		type;
	int			found;

	used -= taken;
	memmove(inbox, inbox + taken, used);
	taken = 0;
	while ((found = frame_peek(inbox, used, MAX_PAYLOAD, &type, payload, &taken)) == 0)
	{
		taken = 0;
		read_more();
	}
	if (found < 0)
		_exit(RUNNER_EXIT_USAGE);
	return type;
}

void
peer_receive(uint8_t type, FrameReader *payload)
{
	if (peer_receive_any(payload) != type)
		_exit(RUNNER_EXIT_USAGE);
}

/* no message is expected: whatever comes is a breach */
void
peer_suspend(void)
{
	FrameReader payload;

	peer_send(message_put_suspend(peer_outbox, PEER_OUTBOX_SIZE));
	peer_receive(MESSAGE_SUSPEND, &payload);
	_exit(RUNNER_EXIT_USAGE);
}

size_t
peer_touched(void)
{
	return touched;
}
