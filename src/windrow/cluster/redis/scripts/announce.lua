-- Write what a shard announces, together or not at all; never over a later announcement of it.
-- KEYS: owners, board, then one hash per hello and per ack.
-- ARGV: shard, incarnation, number of the call, standing, then one value per hash; its field is the shard.
-- Returns 0 if it was written, -1 if a later call was, else the later incarnation that has the shard.
local shard, incarnation, call = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local owner = redis.call('HGET', KEYS[1], shard)
if owner then
  local held, last = string.match(owner, '^(%d+):(%d+)$')
  held, last = tonumber(held), tonumber(last)
  if held > incarnation then
    return held
  end
  if held == incarnation and last >= call then
    return -1
  end
end
redis.call('HSET', KEYS[1], shard, ARGV[2] .. ':' .. ARGV[3])
redis.call('HSET', KEYS[2], shard, ARGV[4])
for number = 3, #KEYS do
  redis.call('HSET', KEYS[number], shard, ARGV[number + 2])
end
return 0
