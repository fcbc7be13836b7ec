/*
 * zygote.c
 *		Descriptors on their way from a worker to its zygote.
 */
#include "zygote.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef union Ancillary
{
	struct cmsghdr header;		/* for its alignment */
	char		space[CMSG_SPACE(sizeof(int) * ZYGOTE_SENT)];
} Ancillary;

/* a message of one byte, as descriptors don't travel alone */
static struct msghdr
message(Ancillary *ancillary, struct iovec *byte)
{
	struct msghdr message = {
		.msg_iov = byte,
		.msg_iovlen = 1,
		.msg_control = ancillary->space,
		.msg_controllen = sizeof(ancillary->space)};

	return message;
}

bool
zygote_ask(int zygote, const int sent[ZYGOTE_SENT])
{
	char		nothing = 0;
	struct iovec byte = {&nothing, 1};
	Ancillary	ancillary = {0};
	struct msghdr request = message(&ancillary, &byte);
	struct cmsghdr *rights = CMSG_FIRSTHDR(&request);
	ssize_t		n;

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int) * ZYGOTE_SENT);
	memcpy(CMSG_DATA(rights), sent, sizeof(int) * ZYGOTE_SENT);
	do
		n = sendmsg(zygote, &request, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

bool
zygote_next(int worker, int received[ZYGOTE_SENT])
{
	char		nothing;
	struct iovec byte = {&nothing, 1};
	Ancillary	ancillary;
	struct msghdr request = message(&ancillary, &byte);
	struct cmsghdr *rights;
	ssize_t		n;

	do
		n = recvmsg(worker, &request, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != 1 || (request.msg_flags & MSG_CTRUNC) != 0)
		return false;
	rights = CMSG_FIRSTHDR(&request);
	if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
		rights->cmsg_len != CMSG_LEN(sizeof(int) * ZYGOTE_SENT))
		return false;
	memcpy(received, CMSG_DATA(rights), sizeof(int) * ZYGOTE_SENT);
	return true;
}
