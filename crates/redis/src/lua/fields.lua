-- Fields of a tensor's hash.
-- KEYS[1] the hash. ARGV[1] the longest value, then the fields.
-- Returns the values, nothing at all without a key, and '' for what no bridge wrote.
local node = owner(KEYS[1])
if not node then
    return {}
end
return node == '' and '' or fields(KEYS[1], tonumber(ARGV[1]), {unpack(ARGV, 2)})
