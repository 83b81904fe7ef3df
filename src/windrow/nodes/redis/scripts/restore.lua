-- Writes what Redis does not have of a job, or has only in an older form.
-- KEYS: record (string), spec (string), state (hash), orders (hash), hush of the orders (string).
-- ARGV: record, its id, spec, milliseconds of the hush, version of the state, number of words of the state, these
--   words (fields and values of the hash), then two words per order: number, order.
-- Returns the record that is there now, and the state. The record of another crawl stays, and all of its keys.
local found = redis.call('GET', KEYS[1])
if found then
  local fine, record = pcall(cjson.decode, found)
  if not fine or type(record) ~= 'table' or record['id'] ~= ARGV[2] then
    return {found, {}}
  end
else
  redis.call('SET', KEYS[1], ARGV[1])
  found = ARGV[1]
  if tonumber(ARGV[4]) > 0 then
    -- Everything was lost: no new order before all nodes have put back those that they know.
    redis.call('SET', KEYS[5], '1', 'PX', ARGV[4])
  end
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
local words = tonumber(ARGV[6])
-- One of the same version is the same, unless it is damaged.
if (tonumber(redis.call('HGET', KEYS[3], 'version') or '-1') or -1) <= tonumber(ARGV[5]) then
  redis.call('DEL', KEYS[3])
  redis.call('HSET', KEYS[3], unpack(ARGV, 7, 6 + words))
end
for at = 7 + words, #ARGV, 2 do
  redis.call('HSETNX', KEYS[4], ARGV[at], ARGV[at + 1])
end
return {found, redis.call('HGETALL', KEYS[3])}
