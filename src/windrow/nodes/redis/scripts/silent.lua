-- Nodes that have given no sign of life for a while. KEYS: signs of life (sorted set). ARGV: milliseconds.
-- Returns {name, milliseconds since the last sign, …}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1]), 'WITHSCORES')
for at = 2, #found, 2 do
  found[at] = now - found[at]
end
return found
