-- Forgets a name of a dead node's index once its hash is gone.
-- KEYS[1] the index. ARGV names. Returns how many are left.
redis.call('SREM', KEYS[1], unpack(ARGV))
return redis.call('SCARD', KEYS[1])
