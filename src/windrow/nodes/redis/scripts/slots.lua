-- One round of a shard process with the address slots. No clock is read here: whoever waits measures it alone.
-- KEYS: slots (hash), calls (hash), era (string), news of this process (list).
-- ARGV: process, number of the call, run id of the server, a random token, milliseconds after which a silent holder is
--   taken for dead, prefix of the news of all processes, the era that the process knows; then four words per step:
--   verb, address, number, text.
-- A slot is {holder, cool, queue}. It exists while it has a holder. `cool`: milliseconds that the holder has to wait
--   before its first request. A holder is alive while the number of its calls rises: it does not name what it holds.
-- News are addresses at which a process has to look again: it was handed the slot, lost it, or others wait for it.
-- Returns {era, {address, word, number, text}, …}; {era} alone if a later call of the process was carried out.
local me, patience, prefix = ARGV[1], tonumber(ARGV[5]), ARGV[6]
local era = redis.call('GET', KEYS[3])
if not era or string.sub(era, 1, #ARGV[3]) ~= ARGV[3] then
  -- Everything is lost, or this is an old copy: begin with nothing, and let the holders put theirs back.
  era = ARGV[3] .. ':' .. ARGV[4]
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[4])
  redis.call('SET', KEYS[3], era)
end
local last = tonumber(redis.call('HGET', KEYS[2], me) or '-1')
if last >= tonumber(ARGV[2]) then
  return {era}
end
redis.call('HSET', KEYS[2], me, ARGV[2])

local answers = {era}
local informed = ARGV[7] == era

local function read(address)
  local found = redis.call('HGET', KEYS[1], address)
  if found then
    return cmsgpack.unpack(found)
  end
  return nil
end

local function write(address, holder, cool, queue)
  redis.call('HSET', KEYS[1], address, cmsgpack.pack({holder, cool, queue}))
end

local function answer(address, word, number, text)
  answers[#answers + 1] = {address, word, number, text}
end

local function tell(process, address)
  redis.call('RPUSH', prefix .. process, address)
end

local function position(queue, process)
  for number, waiting in ipairs(queue) do
    if waiting == process then
      return number
    end
  end
  return nil
end

-- wanted: others wait for it
local function wanted(slot)
  return #slot[3] > 0 and 'wanted' or ''
end

local verbs = {}

-- hold: say that the process still holds it; put it back if everything was lost
verbs['hold'] = function(address, slot)
  if not slot then
    slot = {me, 0, {}}
    write(address, me, 0, {})
  end
  if slot[1] ~= me then
    return answer(address, 'lost', 0, '')
  end
  answer(address, 'held', 0, wanted(slot))
end

-- keep: the same, but only if nothing was lost: the right to use it has run out meanwhile
verbs['keep'] = function(address, slot)
  if not slot then
    return answer(address, 'lost', 0, '')
  end
  verbs['hold'](address, slot)
end

-- give COOL: hand it over to the first that waits; that one waits so many milliseconds. If none waits, a slot that has
--   cooled ends, and another one stays with its holder, which knows when it will have cooled.
verbs['give'] = function(address, slot, cool)
  if slot and slot[1] ~= me then
    return answer(address, 'lost', 0, '')
  end
  local following = slot and table.remove(slot[3], 1)
  if following then
    write(address, following, cool, slot[3])
    tell(following, address)
  elseif cool > 0 then
    return verbs['hold'](address, slot)
  else
    redis.call('HDEL', KEYS[1], address)
  end
  answer(address, 'given', 0, '')
end

-- The last sign of life of the holder of a slot
local function sign_of(slot)
  return slot[1] .. '#' .. (redis.call('HGET', KEYS[2], slot[1]) or '')
end

-- watch: learn whether the holder is alive, before anything may be taken
verbs['watch'] = function(address, slot)
  if slot and slot[1] ~= me then
    answer(address, 'queued', 0, sign_of(slot))
  end
end

-- take WAITED SIGN: get it, or wait for it. SIGN: the last sign of life of the holder that the process has seen; WAITED:
--   since when, in milliseconds. A process that does not know of the loss yet has not waited until the holders have put
--   theirs back.
verbs['take'] = function(address, slot, waited, sign)
  if not informed then
    return
  end
  if not slot then
    write(address, me, 0, {})
    return answer(address, 'granted', 0, '')
  end
  if slot[1] == me then
    return answer(address, 'granted', slot[2], wanted(slot))
  end
  local latest = sign_of(slot)
  local own = position(slot[3], me)
  if latest == sign and waited >= patience then
    tell(slot[1], address)
    if own then
      table.remove(slot[3], own)
    end
    write(address, me, 0, slot[3])
    return answer(address, 'granted', 0, wanted(slot))
  end
  if not own then
    slot[3][#slot[3] + 1] = me
    write(address, slot[1], slot[2], slot[3])
    if #slot[3] == 1 then
      tell(slot[1], address)
    end
  end
  answer(address, 'queued', 0, latest)
end

for number = 8, #ARGV, 4 do
  local address = ARGV[number + 1]
  verbs[ARGV[number]](address, read(address), tonumber(ARGV[number + 2]), ARGV[number + 3])
end

local seen = {}
for _, address in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
  if not seen[address] then
    seen[address] = true
    local slot = read(address)
    if slot and slot[1] == me then
      answer(address, 'granted', slot[2], wanted(slot))
    else
      answer(address, 'lost', 0, '')
    end
  end
end
redis.call('DEL', KEYS[4])
return answers
