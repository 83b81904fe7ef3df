-- What an operator wants of a job. Versions and numbers are milliseconds of this server's clock, but higher than all
-- before them: they stay so after everything was lost.
-- KEYS: record (string), state (hash), orders (hash), hush of the orders (string).
-- ARGV: 'state' and what is wanted;
--   or 'limits', then two words per limit: its name, and its value ('' for none);
--   or 'reached', a limit, and the version of the state in which it was seen to be reached;
--   or 'order' and the order.
-- Returns the version or the number, and the state; -1: there is no such job of nodes, -2: it is too early for an
-- order, -3: the state has changed since that version.
if redis.call('EXISTS', KEYS[1], KEYS[2]) < 2 then
  return {-1, {}}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function text(number)
  return string.format('%.0f', number)
end
if ARGV[1] == 'order' then
  if redis.call('EXISTS', KEYS[4]) == 1 then
    return {-2, {}}
  end
  local number = now
  for _, known in ipairs(redis.call('HKEYS', KEYS[3])) do
    number = math.max(number, (tonumber(known) or 0) + 1)  -- 0: of another program
  end
  redis.call('HSET', KEYS[3], text(number), ARGV[2])
  return {number, {}}
end

local before = redis.call('HMGET', KEYS[2], 'wanted', 'version', 'limit', 'ran')
local wanted, limit, ran = before[1], before[3] or '', tonumber(before[4] or '0') or 0
local runs = wanted == 'run' or wanted == 'pause'
local last = tonumber(before[2] or '0') or 0
if ARGV[1] == 'state' then
  wanted, limit = ARGV[2], ''
elseif ARGV[1] == 'reached' then
  if not runs or text(last) ~= ARGV[3] then
    return {-3, {}}
  end
  wanted, limit = 'stop', ARGV[2]
else
  for at = 2, #ARGV, 2 do
    if ARGV[at + 1] == '' then
      redis.call('HDEL', KEYS[2], 'limit:' .. ARGV[at])
    else
      redis.call('HSET', KEYS[2], 'limit:' .. ARGV[at], ARGV[at + 1])
    end
    if ARGV[at] == limit then  -- the job was stopped by this limit, and nodes see whether the new one is reached too
      wanted, limit = 'run', ''
    end
  end
end
local version = math.max(now, last + 1)
if runs then
  ran = ran + version - last
end
redis.call('HSET', KEYS[2], 'wanted', wanted, 'version', text(version), 'limit', limit, 'ran', text(ran))
return {version, redis.call('HGETALL', KEYS[2])}
