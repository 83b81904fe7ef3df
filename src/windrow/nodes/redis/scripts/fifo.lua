-- One round of a process that shares a queue: what it finished, found, still holds and gives back; what it gets.
--
-- KEYS: urls, requests, bodies, seen, leases, holders, counts, last number
-- ARGV: process, ms of a lease, requests wanted, URLs wanted, then five lists, each after its length:
--   finished: number, links after their count (fingerprint or "", request)
--   new requests: fingerprint or "", request
--   held: number;  given back: number;  URLs that were taken: text
-- Answer: {new requests admitted (1) or known (0)}, {numbers lost}, {number, request, …}, {URL, …},
--   requests that wait, requests that are held, URLs that wait
local urls, requests, bodies, seen, leases, holders, counts, last = unpack(KEYS)
local at = 0
local function word()
  at = at + 1
  return ARGV[at]
end
local function number()
  return tonumber(word())
end
local process, span, wanted, looked = word(), number(), number(), number()
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function count(name)
  redis.call('HINCRBY', counts, name, 1)
end
local function push(fingerprint, body)
  if fingerprint ~= '' and redis.call('SADD', seen, fingerprint) == 0 then
    count('known')
    return 0
  end
  local id = redis.call('INCR', last)
  redis.call('HSET', bodies, id, body)
  redis.call('RPUSH', requests, id)
  count('admitted')
  return 1
end
local function ours(id)
  return redis.call('HGET', holders, id) == process
end
local function free(id)
  redis.call('HDEL', holders, id)
  redis.call('ZREM', leases, id)
end

for _ = 1, number() do
  local id, links = word(), number()
  local counts_here = ours(id)
  for _ = 1, links do
    local fingerprint, body = word(), word()
    if counts_here then push(fingerprint, body) end
  end
  if counts_here then
    free(id)
    redis.call('HDEL', bodies, id)
    count('finished')
  else
    count('late')
  end
end
local admitted = {}
for n = 1, number() do
  local fingerprint, body = word(), word()
  admitted[n] = push(fingerprint, body)
end
local lost = {}
for _ = 1, number() do
  local id = word()
  if ours(id) then
    redis.call('ZADD', leases, now + span, id)
  else
    lost[#lost + 1] = id
  end
end
for _ = 1, number() do
  local id = word()
  if ours(id) then
    free(id)
    redis.call('LPUSH', requests, id)
  end
end
for _ = 1, number() do
  redis.call('LREM', urls, 1, word())
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, 1000)) do
  free(id)
  redis.call('LPUSH', requests, id)
  count('returned')
end
local granted = {}
for _ = 1, wanted do
  local id = redis.call('LPOP', requests)
  if not id then break end
  redis.call('ZADD', leases, now + span, id)
  redis.call('HSET', holders, id, process)
  granted[#granted + 1] = id
  granted[#granted + 1] = redis.call('HGET', bodies, id) or ''
end
local found = looked > 0 and redis.call('LRANGE', urls, 0, looked - 1) or {}
return {admitted, lost, granted, found, redis.call('LLEN', requests), redis.call('ZCARD', leases), redis.call('LLEN', urls)}
