-- expect: status=succeeded
-- expect_result: ["Rex says woof",true,"animal(Rex)",4]
-- category: legit
-- verify: lua5.4
local Animal = {} Animal.__index = Animal
Animal.__tostring = function(a) return "animal(" .. a.name .. ")" end
function Animal.new(class, name) return setmetatable({name = name}, class) end
function Animal:says() return self.name .. " says " .. self.sound end
local Dog = setmetatable({sound = "woof"}, {__index = Animal}) Dog.__index = Dog Dog.__tostring = Animal.__tostring
Dog.__len = function() return 4 end
local rex = Animal.new(Dog, "Rex")
return {rex:says(), getmetatable(rex) == Dog, tostring(rex), #rex}
