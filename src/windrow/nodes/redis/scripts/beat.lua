-- A sign of life of a node. KEYS: signs of life (sorted set), drains (set). ARGV: name.
-- Returns {1 if there was none before, 1 if it shall drain, seconds and microseconds of this server's clock}.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local fresh = redis.call('ZADD', KEYS[1], now, ARGV[1])
return {fresh, redis.call('SISMEMBER', KEYS[2], ARGV[1]), time[1], time[2]}
