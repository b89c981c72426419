-- Takes a command from the list of those that were not answered, the oldest of equal ones.
-- KEYS[1] the processing list. ARGV[1] the command. Returns how many were taken away.
return redis.call('LREM', KEYS[1], -1, ARGV[1])
