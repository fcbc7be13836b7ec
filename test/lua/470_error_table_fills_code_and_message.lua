-- expect: status=failed
-- expect_error_contains: "no such customer"
-- category: errors
error({code = "not_found", message = "no such customer", detail = {id = 7}})
