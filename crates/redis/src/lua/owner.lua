-- Whose the key of a tensor is.
-- KEYS[1] the key. Returns the node of its hash, false without one, '' for what no bridge wrote.
return owner(KEYS[1])
