-- Some members of a set of names. What is too long to be a name is removed.
-- KEYS[1] the set. ARGV[1] the cursor, ARGV[2] how many at once, ARGV[3] the longest.
-- Returns the next cursor and the names.
local page, names = redis.call('SSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]), {}
for _, name in ipairs(page[2]) do
    if #name <= tonumber(ARGV[3]) then
        names[#names + 1] = name
    else
        redis.pcall('SREM', KEYS[1], name)
    end
end
return {page[1], names}
