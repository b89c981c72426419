-- Gives an answer, and only then ends the command.
-- Two slots: not for a cluster, where reply.lua and acknowledge.lua do the same one after the other.
-- KEYS[1] the reply list, KEYS[2] the processing list. ARGV[1] what remembers, ARGV[2] the command,
-- ARGV[3] what it gave, ARGV[4] milliseconds, ARGV[5] the answer. Returns 1, or 0 if the reply list is something else.
local given = give(KEYS[1], ARGV[5], ARGV[4])
acknowledge(KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4])
return given
