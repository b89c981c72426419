-- Shows a tensor: writes its hash, unless the hash is another node's.
-- KEYS[1] the hash. ARGV[1] this node, ARGV[2] '1' to write in any case, then fields and values.
-- Returns the node whose hash it is, or false once it is written.
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
    redis.call('DEL', KEYS[1])
elseif kind == 'hash' and ARGV[2] ~= '1' then
    local node = redis.call('HGET', KEYS[1], 'node')
    if node and node ~= ARGV[1] then
        return node
    end
end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return false
