-- Calls, tables, strings, sorting: about a second of an interpreter's ordinary work.
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
print(fib(29))

local numbers, sum = {}, 0
for i = 1, 3e6 do numbers[i] = i * 2 end
for i = 1, #numbers do sum = sum + numbers[i] end
print(sum)

local records, count = {}, 0
for i = 1, 300000 do records["key" .. i] = {x = i, list = {i}} end
for _, r in pairs(records) do count = count + r.x end
print(count)

math.randomseed(1)
local random = {}
for i = 1, 200000 do random[i] = math.random() end
table.sort(random)

local parts = {}
for i = 1, 200000 do parts[#parts + 1] = string.format("%d:%s", i, "x") end
print(#table.concat(parts))
