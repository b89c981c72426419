-- What several scripts share; it stands before each of them.

-- Whose the key of a tensor is: the node of its hash, false without a key, and '' for what no bridge
-- wrote. A bridge's hash always has a node and the UUID of a tensor.
local function owner(key)
    local kind = redis.call('TYPE', key).ok
    if kind == 'none' then
        return false
    elseif kind ~= 'hash' then
        return ''
    end
    local node, id = unpack(redis.call('HMGET', key, 'node', 'id'))
    local ours = node and #node <= 64 and id and #id == 36 and string.match(id, '^[%x-]+$')
    return ours and node or ''
end

-- Fields of a hash; one longer than `longest` is missing.
local function fields(key, longest, names)
    local values = redis.call('HMGET', key, unpack(names))
    for i = 1, #names do
        if values[i] and #values[i] > longest then
            values[i] = false
        end
    end
    return values
end

-- Where it is remembered what a command gave; `memory` is what all those keys begin with.
local function remembered(memory, command)
    return memory .. redis.sha1hex(command)
end

-- The oldest commands of a list, at most `count` and until they have `bytes`; with `to` they are moved
-- there. One longer than `longest` is removed, and never returned.
-- Returns the commands, what each gave if it was carried out before, how many were removed, and the
-- length of the longest of those.
local function collect(list, to, memory, count, bytes, longest)
    local found, done, taken, removed, length = {}, {}, 0, 0, 0
    while #found < count and taken < bytes do
        local command = redis.call('LINDEX', list, to and -1 or -1 - #found)
        if not command then
            break
        elseif #command <= longest then
            if to then
                redis.call('LMOVE', list, to, 'RIGHT', 'LEFT')
            end
            found[#found + 1] = command
            local gave = redis.pcall('GET', remembered(memory, command))
            if type(gave) ~= 'string' or #gave > longest then
                gave = false
            end
            done[#found], taken = gave, taken + (gave and #gave or 0)
        elseif to or #found == 0 then
            redis.call('LTRIM', list, 0, -2)
            removed, length = removed + 1, math.max(length, #command)
        else
            break
        end
        taken = taken + #command
    end
    return {found, done, removed, length}
end

-- Gives an answer that waits so many milliseconds. Only a list that expires is one of answers.
-- Returns 1, or 0 if the key is something else, which stays as it is.
local function give(key, answer, ms)
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'none' and (kind ~= 'list' or redis.call('PTTL', key) < 0) then
        return 0
    end
    redis.call('LPUSH', key, answer)
    redis.call('PEXPIRE', key, ms)
    return 1
end

-- Takes a command from the list of those that were not answered, the oldest of equal ones, and
-- remembers what it gave if there is something to remember.
local function acknowledge(list, memory, command, gave, ms)
    if gave ~= '' then
        redis.call('SET', remembered(memory, command), gave, 'PX', ms)
    end
    redis.call('LREM', list, -1, command)
end
