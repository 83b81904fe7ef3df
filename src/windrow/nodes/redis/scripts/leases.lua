-- Leases of shards. They only keep two processes from starting the same shard; the lock of the directory and the
-- incarnations keep a process that lost its lease from doing harm.
-- KEYS: fences (hash), era of the leases (string), hush (string), then one key per lease.
-- ARGV: holder, milliseconds of a lease, epoch milliseconds of the holder's clock, run id of the server, a random token;
--   then three words per step: verb, shard, fencing number.
-- Returns per step: take: the new fencing number, 0 if another holds it, -1 while it is too early;
--   renew: 1, or 0 if another holds it or has held it since; give: 1.
local holder, ttl, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local era = redis.call('GET', KEYS[2])
if not era or string.sub(era, 1, #ARGV[4]) ~= ARGV[4] then
  -- Everything is lost, or this is an old copy: let holders put theirs back before anybody takes one.
  redis.call('SET', KEYS[2], ARGV[4] .. ':' .. ARGV[5])
  redis.call('SET', KEYS[3], '1', 'PX', ttl)
end
local hushed = redis.call('EXISTS', KEYS[3]) == 1

local function read(key)
  local found = redis.call('GET', key)
  if not found then
    return nil, -1
  end
  local fence, name = string.match(found, '^(%d+) (.*)$')
  return name, tonumber(fence) or -1  -- of another program: nobody holds it
end

local function write(key, shard, fence)
  redis.call('SET', key, string.format('%.0f', fence) .. ' ' .. holder, 'PX', ttl)
  redis.call('HSET', KEYS[1], shard, string.format('%.0f', fence))
end

local answers = {}
for number = 0, #KEYS - 4 do
  local key, at = KEYS[4 + number], 6 + 3 * number
  local verb, shard, fence = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local name, held = read(key)
  local answer = 1
  if verb == 'take' then
    if name and name ~= holder then
      answer = 0
    elseif hushed and not name then
      answer = -1
    else
      local last = (tonumber(redis.call('HGET', KEYS[1], shard) or '0') or 0)
      answer = math.max(last + 1, now, fence + 1)
      write(key, shard, answer)
    end
  elseif verb == 'renew' then
    -- The last number also counts: a later holder may have come and gone while this one was stopped.
    if math.max(held, (tonumber(redis.call('HGET', KEYS[1], shard) or '0') or 0)) > fence then
      answer = 0
    else
      write(key, shard, fence)
    end
  elseif name == holder and held == fence then
    redis.call('DEL', key)
  end
  answers[#answers + 1] = answer
end
return answers
