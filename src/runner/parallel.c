/*
 * parallel.c
 *		The global "parallel": which branch goes on, and when.
 *
 * The rule of the order.  Each branch is a coroutine.  It runs until it makes a
 * call; the call is sent at once, and the branch is parked, answered or not.
 * Branches start in the order of the arguments.  When all of them are parked or
 * have ended, the one whose answer has the lowest delivered_no goes on.  When
 * none has an answer the attempt ends here (SUSPEND).
 *
 * So which branch goes on depends on the numbers alone.  A later attempt finds
 * the same numbers and others that are higher; it makes the same choices, and
 * only then others.  That is why it makes the same calls in the same order, which
 * replay depends on.  Taking answers as they arrive would not do: the order of
 * arrival is another one when the answers are all there.
 *
 * The branches of a parallel inside a branch belong to the same scheduler: it is
 * their root that resumes them all, whatever their nesting, and the choice is
 * among all that are parked.  A branch that has forked goes on as soon as the
 * last of its own branches has ended.
 *
 * Where Lua can't yield to the scheduler (in a coroutine that the code made, in
 * a comparator, in a close handler after an error) a call is made at once, and a
 * parallel is a root of its own: it holds up whatever is around it, the same way
 * in every attempt.
 *
 * An error ends its branch only; parallel raises it once all branches have
 * ended.  What is pending is no error and can't be caught: SUSPEND never returns.
 */
#include "parallel.h"
#include "libraries.h"
#include "peer.h"

#include "lauxlib.h"

#include <stddef.h>

/* functions of one parallel */
#define BRANCHES_MAX 100

/* branches of one root that haven't ended; as many as an execution may make calls */
#define LIVE_BRANCHES_MAX 1000

typedef enum BranchState
{
	BRANCH_RUNS,				/* or is about to; or waits for its own branches */
	BRANCH_PARKED,				/* its answer is in place, or pending */
	BRANCH_RETURNED,			/* its first result is all that its stack holds */
	BRANCH_FAILED				/* the same of its error */
} BranchState;

typedef struct Branch
{
	lua_State  *thread;
	struct Group *group;
	BranchState state;
	Answer		answer;
	struct Branch *next_ready;
} Branch;

/*
 * The branches of one call of parallel.  It is a userdata on that call's stack,
 * and the threads lie there, too, in place of the functions.
 */
typedef struct Group
{
	struct Scheduler *scheduler;
	Branch	   *parent;			/* the branch that called parallel; NULL: the root */
	struct Group *next;			/* of those that haven't ended */
	int			count;
	int			unfinished;
	Branch		branches[];
} Group;

/* lives on the C stack of the root, and nothing refers to it afterwards */
typedef struct Scheduler
{
	lua_State  *L;
	Group	   *groups;
	Branch	   *ready;			/* may go on at once; the last one in goes first */
	int			live;
} Scheduler;

/* ------------------------------------------------------------------------
 * Coroutines that are branches
 * ------------------------------------------------------------------------ */

/* Lua keeps room for a pointer beside each thread; it is NULL in all others */
static Branch **
branch_slot(lua_State *co)
{
	return (Branch **) lua_getextraspace(co);
}

bool
parallel_is_branch(lua_State *co)
{
	return *branch_slot(co) != NULL;
}

/* As only its scheduler resumes a branch, whatever it yields gets there. */
static Branch *
branch_that_can_wait(lua_State *L)
{
	return lua_isyieldable(L) ? *branch_slot(L) : NULL;
}

Answer *
parallel_place(lua_State *L)
{
	Branch	   *branch = branch_that_can_wait(L);

	return branch != NULL ? &branch->answer : NULL;
}

int
parallel_park(lua_State *L, lua_KContext context, lua_KFunction k)
{
	(*branch_slot(L))->state = BRANCH_PARKED;
	return lua_yieldk(L, 0, context, k);
}

/* ------------------------------------------------------------------------
 * The scheduler
 * ------------------------------------------------------------------------ */

static void
make_ready(Scheduler *scheduler, Branch *branch)
{
	branch->state = BRANCH_RUNS;
	branch->next_ready = scheduler->ready;
	scheduler->ready = branch;
}

/* its branches go first, in the order of the arguments */
static void
add_group(Scheduler *scheduler, Group *group)
{
	group->scheduler = scheduler;
	group->next = scheduler->groups;
	scheduler->groups = group;
	scheduler->live += group->count;
	for (int i = group->count - 1; i >= 0; i--)
		make_ready(scheduler, &group->branches[i]);
}

static void
remove_group(Scheduler *scheduler, Group *group)
{
	Group	  **link = &scheduler->groups;

	while (*link != group)
		link = &(*link)->next;
	*link = group->next;
	scheduler->live -= group->count;
	if (group->parent != NULL)
		make_ready(scheduler, group->parent);
}

/*
 * Close what its blocks left to be closed, and leave the error alone on its
 * stack.  A branch that could not even start has nothing to close.
 */
static void
fail(Scheduler *scheduler, Branch *branch)
{
	if (lua_status(branch->thread) != LUA_OK)
		(void) lua_closethread(branch->thread, scheduler->L);
	lua_insert(branch->thread, 1);
	lua_settop(branch->thread, 1);
	branch->state = BRANCH_FAILED;
}

/* let it run until it is parked, has forked or has ended */
static void
go_on(Scheduler *scheduler, Branch *branch)
{
	int			results;
	int			status = lua_resume(branch->thread, scheduler->L, 0, &results);

	if (status == LUA_YIELD)
		return;
	if (status == LUA_OK)
	{
		lua_settop(branch->thread, 1);
		branch->state = BRANCH_RETURNED;
	}
	else
		fail(scheduler, branch);
	if (--branch->group->unfinished == 0)
		remove_group(scheduler, branch->group);
}

static Branch *
take_ready(Scheduler *scheduler)
{
	Branch	   *branch = scheduler->ready;

	if (branch != NULL)
		scheduler->ready = branch->next_ready;
	return branch;
}

/* the parked branch whose turn it is, or NULL */
static Branch *
take_answered(Scheduler *scheduler)
{
	Branch	   *found = NULL;

	for (Group *group = scheduler->groups; group != NULL; group = group->next)
		for (int i = 0; i < group->count; i++)
		{
			Branch	   *branch = &group->branches[i];

			if (branch->state == BRANCH_PARKED &&
				answer_is_before(&branch->answer, found != NULL ? &found->answer : NULL))
				found = branch;
		}
	if (found != NULL)
		found->state = BRANCH_RUNS;
	return found;
}

/* until all branches have ended; raises nothing */
static void
run(Scheduler *scheduler)
{
	while (scheduler->groups != NULL)
	{
		Branch	   *branch = take_ready(scheduler);

		if (branch == NULL)
			branch = take_answered(scheduler);
		if (branch == NULL)
			peer_suspend();
		go_on(scheduler, branch);
	}
}

/* ------------------------------------------------------------------------
 * The global
 * ------------------------------------------------------------------------ */

/* in place of the functions at 1 to count their threads; on top the group */
static Group *
push_group(lua_State *L, int count, Branch *parent)
{
	Group	   *group;

	group = lua_newuserdatauv(L, offsetof(Group, branches) + (size_t) count * sizeof(Branch), 0);
	group->parent = parent;
	group->count = count;
	group->unfinished = count;
	for (int i = 0; i < count; i++)
	{
		Branch	   *branch = &group->branches[i];

		branch->thread = lua_newthread(L);
		branch->group = group;
		*branch_slot(branch->thread) = branch;
		lua_pushvalue(L, i + 1);
		lua_xmove(L, branch->thread, 1);
		lua_replace(L, i + 1);
	}
	return group;
}

/*
 * The group on top has ended: return the results, or raise the first error.
 * From here on its threads are dead coroutines like any other.
 */
static int
finish(lua_State *L)
{
	Group	   *group = lua_touserdata(L, -1);
	int			failed = 0;

	for (int i = group->count; i > 0; i--)
	{
		Branch	   *branch = &group->branches[i - 1];

		*branch_slot(branch->thread) = NULL;
		lua_xmove(branch->thread, L, 1);
		lua_replace(L, i);
		if (branch->state == BRANCH_FAILED)
			failed = i;
	}
	lua_settop(L, failed != 0 ? failed : group->count);
	return failed != 0 ? lua_error(L) : lua_gettop(L);
}

static int
finish_forked(lua_State *L, int status, lua_KContext context)
{
	(void) status;
	(void) context;
	return finish(L);
}

static void
check_functions(lua_State *L, int count, int live)
{
	for (int i = 1; i <= count; i++)
		luaL_checktype(L, i, LUA_TFUNCTION);
	if (count > BRANCHES_MAX)
		luaL_error(L, "too many functions to run in parallel (%d; the limit is %d)", count, BRANCHES_MAX);
	if (live + count > LIVE_BRANCHES_MAX)
		luaL_error(L, "too many branches within branches (the limit is %d)", LIVE_BRANCHES_MAX);
	luaL_checkstack(L, 4, "too many nested calls");
}

static int
parallel(lua_State *L)
{
	Scheduler	own = {.L = L};
	Branch	   *parent = branch_that_can_wait(L);
	Scheduler  *scheduler = parent != NULL ? parent->group->scheduler : &own;
	int			count = lua_gettop(L);

	check_functions(L, count, scheduler->live);
	if (count == 0)
		return 0;
	add_group(scheduler, push_group(L, count, parent));
	if (parent != NULL)
		return lua_yieldk(L, 0, 0, finish_forked);
	run(scheduler);
	return finish(L);
}

void
parallel_library(lua_State *L)
{
	lua_pushcfunction(L, parallel);
	lua_setfield(L, -2, "parallel");
}
