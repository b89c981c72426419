-- Hands a command to the node that it is for. All keys share a slot.
-- KEYS[1] the processing list, KEYS[2] the list of the other node. ARGV[1] the command.
-- Returns 1; or 0 if the command was not there any more, and then nothing is handed over.
local kind = redis.call('TYPE', KEYS[2]).ok
if kind ~= 'list' and kind ~= 'none' then
    return redis.error_reply('WRONGTYPE ' .. KEYS[2] .. ' is not a list')
elseif redis.call('LREM', KEYS[1], -1, ARGV[1]) == 0 then
    return 0
end
redis.call('LPUSH', KEYS[2], ARGV[1])
return 1
