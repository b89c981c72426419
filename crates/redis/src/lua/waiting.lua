-- The oldest commands that were taken and not answered, some at a time.
-- KEYS[1] the processing list. ARGV[1] how many at most, ARGV[2] after how many bytes no more.
local found, bytes = {}, 0
for i = 1, tonumber(ARGV[1]) do
    local command = redis.call('LINDEX', KEYS[1], -i)
    if not command then
        break
    end
    found[i] = command
    bytes = bytes + #command
    if bytes >= tonumber(ARGV[2]) then
        break
    end
end
return found
