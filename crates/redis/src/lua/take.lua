-- Takes more commands without waiting, the oldest first. All keys share a slot.
-- KEYS[1] the list of commands, KEYS[2] the processing list. ARGV[1] what remembers, ARGV[2] how
-- many at most, ARGV[3] after how many bytes no more, ARGV[4] the longest.
return collect(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))
