/*
 * seccomp_filter.c
 *		The filter, by libseccomp, which knows each architecture's numbers and
 *		other ABIs (x32, 32-bit) that a program of one's own easily forgets.
 */
#include "seccomp_filter.h"
#include "../protocol/message.h"

#include <seccomp.h>

/* allow the call on the runner's socket only */
static bool
allow_on_socket(scmp_filter_ctx filter, int call)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
							SCMP_A0(SCMP_CMP_EQ, RUNNER_SOCKET_FD)) == 0;
}

/*
 * Fails closed: a rule that can't be added, on a kernel without some feature
 * for instance, means no filter and thus no code.
 */
bool
seccomp_filter_install(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

	if (filter == NULL)
		return false;
	/* the filter stays in memory: the process keeps none of its own to reuse */
	return seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
		allow_on_socket(filter, SCMP_SYS(read)) &&
		allow_on_socket(filter, SCMP_SYS(write)) &&
		seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(exit_group), 0) == 0 &&
		seccomp_load(filter) == 0;
}
