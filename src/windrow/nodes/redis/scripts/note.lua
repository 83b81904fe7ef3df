-- Write fields of a hash, and note which of them have changed, so that readers need not read all; see `changes`.
-- KEYS: hash, its changes (sorted set). ARGV: two words per field: name, value ('' removes the field).
-- Each change has a number, in microseconds of this server's clock but higher than all before. The member '' has that
-- of the first: it shows whether everything was lost.
local last = tonumber(redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '0')
local time = redis.call('TIME')
local function number()
  last = math.max(last + 1, time[1] * 1000000 + time[2])
  return string.format('%.0f', last)
end
if last == 0 then
  redis.call('ZADD', KEYS[2], number(), '')
end
for at = 1, #ARGV, 2 do
  local field, value = ARGV[at], ARGV[at + 1]
  if value ~= (redis.call('HGET', KEYS[1], field) or '') then
    if value == '' then
      redis.call('HDEL', KEYS[1], field)
    else
      redis.call('HSET', KEYS[1], field, value)
    end
    redis.call('ZADD', KEYS[2], number(), field)
  end
end
return 1
