-- Gives an answer that waits only so long.
-- KEYS[1] the reply list. ARGV[1] the answer, ARGV[2] milliseconds. Returns the length of the list.
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'list' and kind ~= 'none' then
    redis.call('DEL', KEYS[1])
end
local length = redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return length
