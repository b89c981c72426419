-- Shows a tensor: writes its hash, unless the key is another node's or no bridge's.
-- KEYS[1] the hash. ARGV[1] this node, ARGV[2] '1' to write over another node's, then fields and values.
-- Returns false once it is written, and otherwise what owner.lua does.
local node = owner(KEYS[1])
if node == '' or node and node ~= ARGV[1] and ARGV[2] ~= '1' then
    return node
end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return false
