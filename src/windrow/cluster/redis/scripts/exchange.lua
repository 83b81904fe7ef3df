-- One call of a shard: trim and read its inbox, read what others say to it, publish batches, announce.
-- KEYS: epoch, inbox, hellos to it, acks to it, owners, board, then one stream per batch, then one hash per register.
-- ARGV: shard, incarnation, number of the call, first message to read, most messages, lowest message to keep,
--   number of batches, the batches, its standing ('' to announce nothing), then one value per register.
-- Returns {epoch, messages, hellos, acks, {numbers of batches that were refused}, announced, the first refusal,
--   the board as it was before this call}.
-- Announced is 0 if it was written, -1 if not, else the later incarnation that has the shard.
-- A server without free memory refuses to publish and to announce. It still trims and reads, which frees memory. The
-- order matters: Redis refuses only the first writes of a script, and trimming is one that it never refuses.
local shard, incarnation, call = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local batches = tonumber(ARGV[7])
local standing = ARGV[8 + batches]
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

local refused = {}
for number = 1, batches do
  if not attempt('XADD', KEYS[6 + number], '*', 'b', ARGV[7 + number]) then
    refused[#refused + 1] = number - 1
  end
end

-- All registers or none, and never over a later announcement: readers then see the shard as it was at one moment.
local function announce()
  local owner = redis.call('HGET', KEYS[5], shard)
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
  if not attempt('HSET', KEYS[5], shard, ARGV[2] .. ':' .. ARGV[3]) then
    return -1
  end
  redis.call('HSET', KEYS[6], shard, standing)
  for number = 7 + batches, #KEYS do
    redis.call('HSET', KEYS[number], shard, ARGV[number + 2])
  end
  return 0
end

local board = redis.call('HGETALL', KEYS[6])
local announced = standing ~= '' and announce() or -1

attempt('XTRIM', KEYS[2], 'MINID', ARGV[6])
local found = ARGV[5] ~= '0' and redis.call('XRANGE', KEYS[2], ARGV[4], '+', 'COUNT', ARGV[5]) or {}
return {
  redis.call('GET', KEYS[1]), found, redis.call('HGETALL', KEYS[3]), redis.call('HGETALL', KEYS[4]),
  refused, announced, refusal, board
}
