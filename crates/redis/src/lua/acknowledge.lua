-- Ends a command without an answer.
-- KEYS[1] the processing list. ARGV[1] what remembers, ARGV[2] the command, ARGV[3] what it
-- gave, ARGV[4] milliseconds. Returns 1.
acknowledge(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4])
return 1
