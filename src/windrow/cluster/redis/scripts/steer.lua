-- What an operator wants of a job. Versions and numbers are milliseconds of this server's clock, but higher than all
-- before them: they stay so after everything was lost.
-- KEYS: record (string), state (hash), orders (hash), hush of the orders (string).
-- ARGV: 'state' and what is wanted, or 'order' and the order.
-- Returns the version or the number; -1: there is no such job of nodes, -2: it is too early for an order.
if redis.call('EXISTS', KEYS[1], KEYS[2]) < 2 then
  return -1
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function text(number)
  return string.format('%.0f', number)
end
if ARGV[1] == 'state' then
  local version = math.max(now, tonumber(redis.call('HGET', KEYS[2], 'version') or '0') + 1)
  redis.call('HSET', KEYS[2], 'wanted', ARGV[2], 'version', text(version))
  return version
end
if redis.call('EXISTS', KEYS[4]) == 1 then
  return -2
end
local number = now
for _, known in ipairs(redis.call('HKEYS', KEYS[3])) do
  number = math.max(number, tonumber(known) + 1)
end
redis.call('HSET', KEYS[3], text(number), ARGV[2])
return number
