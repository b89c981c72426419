-- Takes a hash away, if it is this node's.
-- KEYS[1] the hash. ARGV[1] the node. Returns 1 if it was.
if owner(KEYS[1]) ~= ARGV[1] then
    return 0
end
return redis.call('DEL', KEYS[1])
