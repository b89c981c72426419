-- The oldest commands that were taken and not answered. All keys share a slot.
-- KEYS[1] the processing list. ARGV[1] what remembers, ARGV[2] how many at most, ARGV[3] after how
-- many bytes no more, ARGV[4] the longest. With KEYS[2], the list of commands, one is taken if
-- there is none: this meets whatever kept a wait, whose own answer is not read, from taking it.
if KEYS[2] and redis.call('LLEN', KEYS[1]) == 0 then
    redis.call('LMOVE', KEYS[2], KEYS[1], 'RIGHT', 'LEFT')
end
return collect(KEYS[1], false, ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))
