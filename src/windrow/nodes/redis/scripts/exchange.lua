-- One call of a shard: trim and read its inbox, read what others say to it, publish batches, announce.
-- KEYS: epoch, inbox, hellos to it, errands in these, acks to it, answers in these, owners, board, lives, resting, then
--   one stream per batch.
-- ARGV: shard, incarnation, number of the call, first message to read, most messages, lowest message to keep,
--   number of shards, what it wants of the board (1: all, 0: only if the end may be near), start of all keys,
--   number of batches, the batches, its standing ('' to announce nothing), whether it rests ('', 'rests' or 'ended'),
--   its incarnations ('' to leave them), then four words per register: 'hellos' or 'marks', the other shard, the value of
--   the slot, errands or answers ('' for none, '-' to remove those of before).
-- Returns {epoch, messages, hellos, errands, acks, answers, {numbers of batches that were refused}, announced, the first
--   refusal, the board as it was before this call}.
-- Announced is 0 if it was written, -1 if not, else the later incarnation that has the shard.
-- A server without free memory refuses to publish and to announce. It still trims and reads, which frees memory. The
-- order matters: Redis refuses only the first writes of a script, and trimming is one that it never refuses.
local shard, incarnation, call, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[7])
local start, batches = ARGV[9], tonumber(ARGV[10])
local standing, rests, lives = ARGV[11 + batches], ARGV[12 + batches], ARGV[13 + batches]
local refusal = ''

local function attempt(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer['err'] then
    if refusal == '' then
      refusal = answer['err']
    end
    return false
  end
  return true
end

-- Read a key; one that is of another program is empty.
local function read(command, key, empty)
  local answer = redis.pcall(command, key)
  if not answer or (type(answer) == 'table' and answer['err']) then
    return empty
  end
  return answer
end

local refused = {}
for number = 1, batches do
  if not attempt('XADD', KEYS[10 + number], '*', 'b', ARGV[10 + number]) then
    refused[#refused + 1] = number - 1
  end
end

-- A column is a string with a slot for each shard. It is made in its whole length: Redis doubles the room of a string
-- that grows.
local function put(column, slot, value)
  local size = count * #value
  if redis.pcall('SETRANGE', column, slot * #value, value) ~= size then
    redis.call('DEL', column)
    redis.call('SETRANGE', column, size - 1, '\0')
    redis.call('SETRANGE', column, slot * #value, value)
  end
end

local more = {hellos = start .. 'errands:', marks = start .. 'tells:'}

-- All registers or none, and never over a later announcement: readers then see the shard as it was at one moment.
local function announce()
  local owner = redis.call('HGET', KEYS[7], shard)
  if owner then
    local held, last = string.match(owner, '^(%d+):(%d+)$')
    held, last = tonumber(held) or 0, tonumber(last) or 0  -- 0: of another program
    if held > incarnation then
      return held
    end
    if held == incarnation and last >= call then
      return -1
    end
  end
  if not attempt('HSET', KEYS[7], shard, ARGV[2] .. ':' .. ARGV[3]) then
    return -1
  end
  redis.call('HSET', KEYS[8], shard, standing)
  if lives ~= '' then
    redis.call('HSET', KEYS[9], shard, lives)
  end
  if rests == '' then
    redis.call('SREM', KEYS[10], shard, 'ended')
  else
    redis.call('SADD', KEYS[10], shard, rests == 'ended' and rests or shard)
  end
  local own = tonumber(shard)
  for at = 14 + batches, #ARGV, 4 do
    local kind, other, extra = ARGV[at], ARGV[at + 1], ARGV[at + 3]
    put(start .. kind .. ':' .. other, own, ARGV[at + 2])
    if extra == '-' then
      redis.call('HDEL', more[kind] .. other, shard)
    elseif extra ~= '' then
      redis.call('HSET', more[kind] .. other, shard, extra)
    end
  end
  return 0
end

local board = {}
if ARGV[8] == '1' or redis.call('SCARD', KEYS[10]) >= count or redis.call('SISMEMBER', KEYS[10], 'ended') == 1 then
  board = redis.call('HGETALL', KEYS[8])
end
local announced = standing ~= '' and announce() or -1

attempt('XTRIM', KEYS[2], 'MINID', ARGV[6])
local found = ARGV[5] ~= '0' and redis.call('XRANGE', KEYS[2], ARGV[4], '+', 'COUNT', ARGV[5]) or {}
return {
  redis.call('GET', KEYS[1]), found, read('GET', KEYS[3], ''), read('HGETALL', KEYS[4], {}), read('GET', KEYS[5], ''),
  read('HGETALL', KEYS[6], {}), refused, announced, refusal, board
}
