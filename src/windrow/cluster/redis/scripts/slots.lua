-- One round of a shard process with the address slots. No clock is read here: whoever waits measures it alone.
-- KEYS: slots (hash), calls (hash), era (string), grants of this process (list).
-- ARGV: process, number of the call, run id of the server, a random token, milliseconds after which a silent holder is
--   taken for dead, prefix of the grants of all processes, the era that the process knows; then four words per step:
--   verb, address, number, number.
-- A slot is {holder, version, cool, last, queue}: `version` counts its changes and renewals; who gets it next must wait
--   `cool` milliseconds before a request; `last` is who made the last requests.
-- Returns {era, {address, word, number, version}, …}; {era} alone if a later call of the process was carried out.
local me, patience, prefix = ARGV[1], tonumber(ARGV[5]), ARGV[6]
local era = redis.call('GET', KEYS[3])
if not era or string.sub(era, 1, #ARGV[3]) ~= ARGV[3] then
  -- Everything is lost, or this is an old copy: begin with nothing, and let the holders put theirs back.
  era = ARGV[3] .. ':' .. ARGV[4]
  redis.call('DEL', KEYS[1], KEYS[2])
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

local function write(address, slot)
  slot[2] = slot[2] + 1
  redis.call('HSET', KEYS[1], address, cmsgpack.pack(slot))
end

local function answer(address, word, number, version)
  answers[#answers + 1] = {address, word, number, version}
end

local function without(queue, process)
  local rest = {}
  for _, waiting in ipairs(queue) do
    if waiting ~= process then
      rest[#rest + 1] = waiting
    end
  end
  return rest
end

local function hand_over(address, slot, cool)
  slot[3] = cool
  slot[1] = table.remove(slot[5], 1) or ''
  write(address, slot)
  if slot[1] ~= '' then
    redis.call('RPUSH', prefix .. slot[1], address)
  end
end

local function take(address, slot)
  slot[1] = me
  slot[5] = without(slot[5], me)
  write(address, slot)
end

local verbs = {}

-- hold: say that the process still holds it; put it back if everything was lost
verbs['hold'] = function(address, slot)
  slot = slot or {'', 0, 0, me, {}}
  if slot[1] ~= me and slot[1] ~= '' then
    return answer(address, 'lost', 0, slot[2])
  end
  take(address, slot)
  answer(address, #slot[5] > 0 and 'wanted' or 'held', 0, slot[2])
end

-- keep: the same, but only if nothing was lost: the right to use it has run out meanwhile
verbs['keep'] = function(address, slot)
  if not slot or slot[1] ~= me then
    return answer(address, 'lost', 0, 0)
  end
  verbs['hold'](address, slot)
end

-- give COOL REQUESTED: release it; who gets it next waits so many milliseconds
verbs['give'] = function(address, slot, cool, requested)
  if not slot and requested == 1 then
    slot = {me, 0, 0, me, {}}
  end
  if slot and slot[1] == me then -- else this is a repetition, and others may have used it since
    if requested == 1 then
      slot[4] = me
    else
      cool = slot[3]
    end
    hand_over(address, slot, cool)
  end
end

-- forget: of a free slot that has cooled, by the process that used it last
verbs['forget'] = function(address, slot)
  if slot and slot[1] == '' and slot[4] == me then
    redis.call('HDEL', KEYS[1], address)
  end
end

-- leave: wait no longer
verbs['leave'] = function(address, slot)
  if slot then
    if slot[1] == me then
      return hand_over(address, slot, slot[3])
    end
    slot[5] = without(slot[5], me)
    redis.call('HSET', KEYS[1], address, cmsgpack.pack(slot))
  end
end

-- take WAITED VERSION: get it, or wait for it. WAITED: since when, in milliseconds, this version has been seen.
-- A process that does not know of the loss yet has not waited until the holders have put theirs back.
verbs['take'] = function(address, slot, waited, version)
  if not informed then
    return
  end
  if not slot then
    take(address, {'', 0, 0, '', {}})
    return answer(address, 'granted', 0, 1)
  end
  local dead = slot[1] ~= '' and slot[2] == version and waited >= patience
  if slot[1] == me or slot[1] == '' or dead then
    local own = slot[4] == me and slot[1] ~= me and not dead
    local cool = dead and 0 or slot[3]
    take(address, slot)
    return answer(address, own and 'again' or 'granted', cool, slot[2])
  end
  local queue = without(slot[5], me)
  if #queue == #slot[5] then
    slot[5][#slot[5] + 1] = me
    redis.call('HSET', KEYS[1], address, cmsgpack.pack(slot))
  end
  answer(address, 'queued', 0, slot[2])
end

for number = 8, #ARGV, 4 do
  local address = ARGV[number + 1]
  verbs[ARGV[number]](address, read(address), tonumber(ARGV[number + 2]), tonumber(ARGV[number + 3]))
end

for _, address in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
  local slot = read(address)
  if slot and slot[1] == me then
    take(address, slot)
    answer(address, 'granted', slot[3], slot[2])
  end
end
redis.call('DEL', KEYS[4])
return answers
