-- Which data directory has a shard. After a loss several may say so: the one of the latest holder is right.
-- KEYS: homes (hash). ARGV: shard, fencing number, id of the data directory.
local fence = tonumber(string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+) ') or '0')
if fence <= tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
end
return 1
