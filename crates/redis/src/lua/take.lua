-- Takes more commands without waiting, the oldest first. All keys share a slot.
-- KEYS[1] the list of commands, KEYS[2] the processing list. ARGV[1] how many at most, ARGV[2] after
-- how many bytes no more are taken. Returns them in the order in which they are to be carried out.
local taken, bytes = {}, 0
for i = 1, tonumber(ARGV[1]) do
    local command = redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT')
    if not command then
        break
    end
    taken[i] = command
    bytes = bytes + #command
    if bytes >= tonumber(ARGV[2]) then
        break
    end
end
return taken
