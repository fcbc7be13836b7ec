/*
 * seccomp_filter.c
 *		The filter, by libseccomp, which knows each architecture's numbers and
 *		other ABIs (x32, 32-bit) that a program of one's own easily forgets.
 */
#include "seccomp_filter.h"
#include "../protocol/message.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

/* a few times what ours has; more means that something is wrong */
#define MAX_INSTRUCTIONS 256

/* the filter as the kernel takes it; without instructions there is none */
static struct sock_fprog program;

/* allow the call on the runner's socket only */
static bool
allow_on_socket(scmp_filter_ctx filter, int call)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
							SCMP_A0(SCMP_CMP_EQ, RUNNER_SOCKET_FD)) == 0;
}

/* libseccomp writes its programs to files only; this one fits into a pipe */
static bool
compile(scmp_filter_ctx filter)
{
	static struct sock_filter instructions[MAX_INSTRUCTIONS];
	ssize_t		size = -1;
	int			ends[2];

	if (pipe(ends) != 0)
		return false;
	if (seccomp_export_bpf(filter, ends[1]) == 0)
		size = read(ends[0], instructions, sizeof(instructions));
	(void) close(ends[0]);
	(void) close(ends[1]);
	if (size <= 0 || size >= (ssize_t) sizeof(instructions))
		return false;
	program.filter = instructions;
	program.len = (unsigned short) ((size_t) size / sizeof(*instructions));
	return true;
}

/*
 * Fails closed: a rule that can't be added, on a kernel without some feature
 * for instance, means no filter and thus no code.
 */
bool
seccomp_filter_prepare(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	bool		done;

	if (filter == NULL)
		return false;
	done = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
		allow_on_socket(filter, SCMP_SYS(read)) &&
		allow_on_socket(filter, SCMP_SYS(write)) &&
		seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(exit_group), 0) == 0 &&
		compile(filter);
	seccomp_release(filter);
	return done;
}

bool
seccomp_filter_install(void)
{
	return program.len > 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
