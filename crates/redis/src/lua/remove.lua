-- Takes a hash away, if it is this node's.
-- KEYS[1] the hash. ARGV[1] the node. Returns 1 if it was.
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
    return 0
end
if redis.call('HGET', KEYS[1], 'node') ~= ARGV[1] then
    return 0
end
return redis.call('DEL', KEYS[1])
