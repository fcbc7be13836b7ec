-- expect: status=succeeded
-- expect_result: ["number",0,"boolean",false,false,false,false]
-- category: coroutine_gc_close
return type(collectgarbage("count")), collectgarbage(), type(collectgarbage("step")),
  (pcall(collectgarbage, "stop")), (pcall(collectgarbage, "generational")),
  (pcall(collectgarbage, "setpause", 1000)), (pcall(collectgarbage, "isrunning"))
