-- expect: status=succeeded
-- expect_result: ["attempt to yield from a branch of parallel",false,"cannot resume a branch of parallel","cannot close a branch of parallel","dead",[1,2,3]]
-- category: parallel
-- A branch can't be resumed, closed or yielded from, whoever gets hold of it.
local function message(e) return (e:gsub("^code:%d+: ", "")) end
local _, yielding = pcall(parallel, function() coroutine.yield() end)
local yieldable = parallel(coroutine.isyieldable)
local branch
local resumed, closed
parallel(
  function() branch = coroutine.running() end,
  function()
    resumed = select(2, coroutine.resume(branch))
    closed = select(2, pcall(coroutine.close, branch))
  end)
local own = {}
parallel(function() for i in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do own[i] = i end end)
return message(yielding), yieldable, resumed, message(closed), coroutine.status(branch), own
