-- Fields of a node's hash.
-- KEYS[1] the hash. ARGV[1] the longest value, then the fields. Returns the values.
return fields(KEYS[1], tonumber(ARGV[1]), {unpack(ARGV, 2)})
