# SPDX-License-Identifier: MIT
"""The Lua scripts, which the server runs atomically.

A session is a hash: `d` data, `v` version, `c` created_at, `e` expires_at, and `u` its user and `l`
its login if it has one. The index of a user, or of a login, is a sorted set with the names of its
sessions by expiry. The server removes them when they expire.

SPEC: <https://redis.io/docs/latest/develop/programmability/eval-intro/>.
"""

from __future__ import annotations

from hashlib import sha1

__all__ = ("DELETE", "DELETE_LISTED", "INSERT", "REPLACE", "TOUCH", "Script")


class Script:
    """A script, and the digest under which the server caches it.

    Args:
        source: Its text, in Lua.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = sha1(source.encode(), usedforsecurity=False).hexdigest()


# KEYS[1] is the session, ARGV[1] the prefix of all names. An index is `user:` or `login:` with the
# value.
_INDEX = """
local indexes = {u = 'user:', l = 'login:'}

local function unlist(field, value)
  redis.call('ZREM', ARGV[1] .. indexes[field] .. value, KEYS[1])
end

local function list(field, value, ends)
  local name = ARGV[1] .. indexes[field] .. value
  local time = redis.call('TIME')
  redis.call('ZADD', name, ends, KEYS[1])
  redis.call('ZREMRANGEBYSCORE', name, '-inf', time[1])
  local last = redis.call('ZREVRANGE', name, 0, 0, 'WITHSCORES')[2]
  if last then
    redis.call('EXPIREAT', name, string.format('%.0f', math.ceil(tonumber(last)) + 1))
  end
end
"""
# ARGV: 2 version before, 3 data, 4 version, 5 created_at, 6 expires_at, 7 expires_at in
# milliseconds, 8 user, 9 login, each after a `+`; empty if there is none.
_WRITE = """
local given = {u = ARGV[8], l = ARGV[9]}

local function write()
  redis.call('HSET', KEYS[1], 'd', ARGV[3], 'v', ARGV[4], 'c', ARGV[5], 'e', ARGV[6])
  for field, tagged in pairs(given) do
    if tagged ~= '' then
      local value = string.sub(tagged, 2)
      redis.call('HSET', KEYS[1], field, value)
      list(field, value, ARGV[6])
    else
      redis.call('HDEL', KEYS[1], field)
    end
  end
  redis.call('PEXPIREAT', KEYS[1], ARGV[7])
  return 1
end
"""
INSERT = Script(
    _INDEX
    + _WRITE
    + """
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
return write()
"""
)
REPLACE = Script(
    _INDEX
    + _WRITE
    + """
if redis.call('HGET', KEYS[1], 'v') ~= ARGV[2] then
  return 0
end
for field, tagged in pairs(given) do
  local stored = redis.call('HGET', KEYS[1], field)
  if stored and '+' .. stored ~= tagged then
    unlist(field, stored)
  end
end
return write()
"""
)
# ARGV: 2 expires_at, 3 the same in milliseconds.
TOUCH = Script(
    _INDEX
    + """
local ends = redis.call('HGET', KEYS[1], 'e')
if not ends then
  return 0
end
if tonumber(ends) >= tonumber(ARGV[2]) then
  return 1
end
for field in pairs(indexes) do
  local value = redis.call('HGET', KEYS[1], field)
  if value then
    list(field, value, ARGV[2])
  end
end
redis.call('HSET', KEYS[1], 'e', ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
"""
)
DELETE = Script(
    _INDEX
    + """
for field in pairs(indexes) do
  local value = redis.call('HGET', KEYS[1], field)
  if value then
    unlist(field, value)
  end
end
return redis.call('DEL', KEYS[1])
"""
)
# KEYS[1] is the index, ARGV[1] the name of the session to keep.
DELETE_LISTED = Script("""
local count = 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if name ~= ARGV[1] then
    count = count + redis.call('DEL', name)
    redis.call('ZREM', KEYS[1], name)
  end
end
return count
""")
