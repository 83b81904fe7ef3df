-- What has changed in a hash since the last look, or all of it; see `changes`.
-- KEYS: hash, its changes (sorted set). ARGV: number of its first change, and of the last one that the reader knows.
-- Returns {number of the first change, of the last one, 1 if this is all, length of the hash, {field, value, …}}; the
-- value of a field that was removed is ''.
local first = redis.call('ZSCORE', KEYS[2], '')
local length = redis.call('HLEN', KEYS[1])
if not first then
  return {'', '', 1, length, redis.call('HGETALL', KEYS[1])}
end
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
if first ~= ARGV[1] then
  return {first, last, 1, length, redis.call('HGETALL', KEYS[1])}
end
local found = {}
if last ~= ARGV[2] then
  for _, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[2], '+inf')) do
    found[#found + 1] = field
    found[#found + 1] = redis.call('HGET', KEYS[1], field) or ''
  end
end
return {first, last, 0, length, found}
