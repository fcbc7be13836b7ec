/*
 * sandbox.c
 *		One runner at work.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/wait.h>

#include "burst.h"
#include "channel.h"
#include "compat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "sandbox.h"
#include "shmem.h"
#include "spawn.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"

struct Sandbox
{
	MemoryContext memory;		/* holds the sandbox, its channel, its texts */
	Spawned		process;
	Channel		channel;
	WaitEventSet *events;
	int			socket_event;
	bool		ready;			/* it said READY: it is locked down */
	bool		calling;		/* it waits for an answer and must say nothing */
	bool		broke_protocol;

	Burst		burst;
	bool		held;			/* a frame is here, and waits for what was left before it */
	uint8		held_type;
	FrameReader held_payload;

	Oid			submitter;
	char	   *owner;
	char		runtime_version[MAX_VERSION_BYTES + 1];
};

/* positions in the wait event set */
#define LATCH_EVENT 0
#define POSTMASTER_EVENT 1

/* runners that wait for the next execution of their domains, the last used first */
#define KEPT_MAX 8

static Sandbox *kept[KEPT_MAX];
static int	kept_count = 0;
static Sandbox *at_work = NULL;

/*
 * A worker that exits, for whatever reason, leaves no child behind: neither
 * running nor as a zombie.
 */
static void
end_at_exit(int code, Datum arg)
{
	if (at_work != NULL)
		spawn_end(&at_work->process);
	at_work = NULL;
	while (kept_count > 0)
		spawn_end(&kept[--kept_count]->process);
	spawn_end_zygote();
}

static void
register_end_at_exit(void)
{
	static bool registered = false;

	if (!registered)
		on_proc_exit(end_at_exit, 0);
	registered = true;
}

static void
watch(Sandbox *sandbox)
{
	sandbox->events = compat_create_wait_event_set(3);
	AddWaitEventToSet(sandbox->events, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(sandbox->events, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	sandbox->socket_event = AddWaitEventToSet(sandbox->events, WL_SOCKET_READABLE,
											  sandbox->process.socket, NULL, NULL);
}

static Sandbox *
start(Oid submitter, const char *owner, const char **reason)
{
	MemoryContext memory = AllocSetContextCreate(TopMemoryContext, "sandbox_exec sandbox",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext outside = MemoryContextSwitchTo(memory);
	Sandbox    *sandbox = palloc0(sizeof(Sandbox));

	sandbox->memory = memory;
	sandbox->submitter = submitter;
	sandbox->owner = pstrdup(owner);
	*reason = spawn_runner(&sandbox->process);
	if (*reason == NULL)
	{
		channel_open(&sandbox->channel, sandbox->process.socket);
		burst_init(&sandbox->burst, sandbox->process.ahead, sandbox->process.outlog);
		watch(sandbox);
		MemoryContextSwitchTo(outside);
		return sandbox;
	}
	MemoryContextSwitchTo(outside);
	*reason = pstrdup(*reason);
	MemoryContextDelete(memory);
	return NULL;
}

/* the one that is kept for that domain; NULL: there is none */
static Sandbox *
take_kept(Oid submitter, const char *owner)
{
	int			i;

	for (i = 0; i < kept_count; i++)
	{
		Sandbox    *sandbox = kept[i];

		if (sandbox->submitter != submitter || strcmp(sandbox->owner, owner) != 0)
			continue;
		kept_count--;
		memmove(&kept[i], &kept[i + 1], sizeof(Sandbox *) * (kept_count - i));
		return sandbox;
	}
	return NULL;
}

static SandboxResult pump(Sandbox *sandbox, SandboxMessage *message);

/* of an idle runner nothing is expected but that it dropped what was taken back */
static bool
is_alive(Sandbox *sandbox)
{
	SandboxMessage message;

	return pump(sandbox, &message) == SANDBOX_WOKEN;
}

Sandbox *
sandbox_acquire(Oid submitter, const char *owner, const char **reason)
{
	/* it holds the execution already */
	if (at_work != NULL)
		return at_work;
	at_work = take_kept(submitter, owner);
	if (at_work != NULL && is_alive(at_work))
		return at_work;
	if (at_work != NULL)
		sandbox_end(at_work, NULL);
	register_end_at_exit();
	at_work = start(submitter, owner, reason);
	return at_work;
}

static size_t
request_size(const RunMessage *run)
{
	return FRAME_HEADER_SIZE + 256 + run->execution.length + run->args.length + run->code.length;
}

static void
send_next(Sandbox *sandbox)
{
	size_t		size;
	char	   *frame = burst_next(&sandbox->burst, &size);

	if (frame == NULL)
		return;
	channel_send(&sandbox->channel, frame, size);
	sandbox->calling = false;
}

void
sandbox_run(Sandbox *sandbox, const RunMessage *runs, int count)
{
	size_t		capacity = FRAME_HEADER_SIZE;
	size_t		size;
	char	   *frame;
	int			i;

	for (i = 0; i < count; i++)
		capacity += request_size(&runs[i]);
	frame = MemoryContextAlloc(sandbox->memory, capacity);
	size = count == 1 ? message_put_run(frame, capacity, runs) :
						message_put_burst(frame, capacity, runs, count);
	if (size == 0)
		elog(ERROR, "could not encode a run message");
	burst_queue(&sandbox->burst, frame, size, count);
	send_next(sandbox);
}

Burst *
sandbox_burst(Sandbox *sandbox)
{
	return &sandbox->burst;
}

void
sandbox_answer(Sandbox *sandbox, const ReturnMessage *answer)
{
	size_t		capacity = FRAME_HEADER_SIZE + 64 + answer->value.length;
	char	   *frame = MemoryContextAlloc(sandbox->memory, capacity);
	size_t		size = message_put_return(frame, capacity, answer);

	if (size == 0)
		elog(ERROR, "could not encode a return message");
	channel_send(&sandbox->channel, frame, size);
	sandbox->calling = false;
}

static SandboxResult
take_ready(Sandbox *sandbox, FrameReader *payload)
{
	ReadyMessage ready;

	if (sandbox->ready || !message_get_ready(payload, &ready) ||
		ready.protocol_version != PROTOCOL_VERSION)
		return SANDBOX_DEAD;
	sandbox->ready = true;
	memcpy(sandbox->runtime_version, ready.runtime_version.data, ready.runtime_version.length);
	sandbox->runtime_version[ready.runtime_version.length] = '\0';
	shmem_set_reason(HEALTH_RUNNER_START, NULL);
	shmem_set_reason(HEALTH_SECCOMP, ready.seccomp ? NULL : "code runs without the seccomp filter, which could not be installed");
	return SANDBOX_WOKEN;
}

static SandboxResult
take_dropped(Sandbox *sandbox)
{
	BurstResult result = burst_dropped(&sandbox->burst);

	if (result == BURST_NOTHING)
		send_next(sandbox);
	return result == BURST_NOTHING ? SANDBOX_WOKEN :
		result == BURST_DROPPED	   ? SANDBOX_DROPPED :
									 SANDBOX_DEAD;
}

/* what it has to say of the current execution */
static SandboxResult
take_word(Sandbox *sandbox, uint8 type, FrameReader *payload, SandboxMessage *message)
{
	if (type == MESSAGE_DONE && message_get_done(payload, &message->done))
	{
		message->quiet = false;
		burst_done(&sandbox->burst);
		return SANDBOX_DONE;
	}
	if (type == MESSAGE_CALL && message_get_call(payload, &message->call))
	{
		sandbox->calling = true;
		return SANDBOX_CALL;
	}
	if (type == MESSAGE_SUSPEND && message_get_suspend(payload))
		return SANDBOX_SUSPEND;
	return SANDBOX_DEAD;
}

static SandboxResult
take(Sandbox *sandbox, uint8 type, FrameReader *payload, SandboxMessage *message)
{
	SandboxResult result = SANDBOX_DEAD;

	if (type == MESSAGE_READY)
		result = take_ready(sandbox, payload);
	else if (type == MESSAGE_DROPPED && message_get_dropped(payload))
		result = take_dropped(sandbox);
	else if (sandbox->ready && !sandbox->calling && burst_has_it(&sandbox->burst) &&
			 !channel_wants_write(&sandbox->channel))
		result = take_word(sandbox, type, payload, message);
	if (result == SANDBOX_DEAD)
		sandbox->broke_protocol = true;
	return result;
}

/* what it left of the current execution; SANDBOX_WOKEN: nothing */
static SandboxResult
take_left(Sandbox *sandbox, SandboxMessage *message)
{
	BurstResult result = BURST_NOTHING;

	if (!sandbox->calling)
		result = burst_left(&sandbox->burst, &message->done);
	message->quiet = true;
	if (result == BURST_FORGED)
		sandbox->broke_protocol = true;
	return result == BURST_NOTHING ? SANDBOX_WOKEN :
		result == BURST_DONE	   ? SANDBOX_DONE :
									 SANDBOX_DEAD;
}

/*
 * SANDBOX_WOKEN means here: nothing yet.  A frame, or the end of the socket, comes
 * after all that was left before: so what was left is looked at once more.
 */
static SandboxResult
pump(Sandbox *sandbox, SandboxMessage *message)
{
	for (;;)
	{
		SandboxResult result = take_left(sandbox, message);
		ChannelResult found = CHANNEL_FRAME;

		if (result != SANDBOX_WOKEN)
			return result;
		if (!sandbox->held)
		{
			found = channel_pump(&sandbox->channel, &sandbox->held_type, &sandbox->held_payload);
			sandbox->held = found == CHANNEL_FRAME;
			if (found == CHANNEL_WAIT)
				return SANDBOX_WOKEN;
			result = take_left(sandbox, message);
			if (result != SANDBOX_WOKEN)
				return result;
		}
		if (found == CHANNEL_BROKEN)
			sandbox->broke_protocol = true;
		if (found != CHANNEL_FRAME)
			return SANDBOX_DEAD;
		sandbox->held = false;
		result = take(sandbox, sandbox->held_type, &sandbox->held_payload, message);
		if (result != SANDBOX_WOKEN)
			return result;
	}
}

SandboxResult
sandbox_wait(Sandbox *sandbox, long timeout_ms, SandboxMessage *message)
{
	for (;;)
	{
		WaitEvent	event;
		SandboxResult result = pump(sandbox, message);

		if (result != SANDBOX_WOKEN || timeout_ms <= 0)
			return result;
		ModifyWaitEvent(sandbox->events, sandbox->socket_event,
						WL_SOCKET_READABLE |
							(channel_wants_write(&sandbox->channel) ? WL_SOCKET_WRITEABLE : 0),
						NULL);
		if (WaitEventSetWait(sandbox->events, timeout_ms, &event, 1, PG_WAIT_EXTENSION) == 0 ||
			event.pos == LATCH_EVENT)
			timeout_ms = 0;		/* look once more, then report */
	}
}

const void *
sandbox_output(const Sandbox *sandbox)
{
	return sandbox->process.outlog;
}

const char *
sandbox_runtime_version(const Sandbox *sandbox)
{
	return sandbox->runtime_version;
}

void
sandbox_keep(Sandbox *sandbox)
{
	if (burst_has_it(&sandbox->burst))
		return;
	sandbox_keep_at_most(KEPT_MAX - 1);
	at_work = NULL;
	memmove(&kept[1], &kept[0], sizeof(Sandbox *) * kept_count);
	kept[0] = sandbox;
	kept_count++;
}

/*
 * A kill from outside may hit anything, so it is the executor's fault and may
 * be tried again.  A forbidden system call or a crash is the code's doing and
 * would come again.
 */
static void
describe_signal(int signal, SandboxDeath *death)
{
	if (signal == SIGSYS)
	{
		death->error_code = "sandbox_violation";
		strlcpy(death->message, "the code was ended for a forbidden system call",
				sizeof(death->message));
		return;
	}
	if (signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
		signal == SIGILL || signal == SIGFPE)
		death->error_code = "runner_crash";
	snprintf(death->message, sizeof(death->message),
			 "the runner was ended by signal %d", signal);
}

void
sandbox_end(Sandbox *sandbox, SandboxDeath *death)
{
	int			status = spawn_end(&sandbox->process);

	if (sandbox == at_work)
		at_work = NULL;
	if (death != NULL)
	{
		death->never_started = !sandbox->ready;
		death->error_code = "executor_error";
		if (sandbox->broke_protocol)
		{
			death->error_code = "sandbox_violation";
			strlcpy(death->message, "the runner broke the protocol", sizeof(death->message));
		}
		else if (WIFSIGNALED(status))
			describe_signal(WTERMSIG(status), death);
		else
			strlcpy(death->message, spawn_exit_reason(WEXITSTATUS(status)), sizeof(death->message));
	}
	FreeWaitEventSet(sandbox->events);
	MemoryContextDelete(sandbox->memory);
}

void
sandbox_take_back(void)
{
	if (at_work != NULL)
		sandbox_end(at_work, NULL);
}

void
sandbox_start_afresh(void)
{
	sandbox_keep_at_most(0);
	spawn_end_zygote();
}

void
sandbox_keep_at_most(int count)
{
	while (kept_count > count)
		sandbox_end(kept[--kept_count], NULL);
}
