-- Gives an answer, and only then takes the command from the list of those that were not answered.
-- Two slots: not for a cluster, where reply.lua and acknowledge.lua do the same one after the other.
-- KEYS[1] the reply list, KEYS[2] the processing list. ARGV[1] the answer, ARGV[2] milliseconds,
-- ARGV[3] the command. Returns how many commands were taken away.
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'list' and kind ~= 'none' then
    redis.call('DEL', KEYS[1])
end
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('LREM', KEYS[2], -1, ARGV[3])
