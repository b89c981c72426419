-- Gives an answer.
-- KEYS[1] the reply list. ARGV[1] milliseconds, ARGV[2] the answer.
-- Returns 1, or 0 if the reply list is something else.
return give(KEYS[1], ARGV[2], ARGV[1])
