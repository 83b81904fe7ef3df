-- Which data directory has a shard. After a loss several may say so: the one of the latest holder is right.
-- KEYS: homes (hash), its changes (sorted set, see `note.lua`). ARGV: shard, fencing number, id of the data directory.
local value = ARGV[2] .. ' ' .. ARGV[3]
local found = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local fence = tonumber(string.match(found, '^(%d+) ') or '0')
if fence > tonumber(ARGV[2]) or found == value then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], value)
local last = tonumber(redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '0')
local time = redis.call('TIME')
local number = math.max(last + 1, time[1] * 1000000 + time[2])
if last == 0 then
  redis.call('ZADD', KEYS[2], string.format('%.0f', number), '')
  number = number + 1
end
redis.call('ZADD', KEYS[2], string.format('%.0f', number), ARGV[1])
return 1
