# SPDX-License-Identifier: MIT
"""The Lua scripts, which the server runs atomically.

A session is a hash: `d` data, `v` version, `c` created_at, `e` expires_at, and `u` its user if it
has one. The index of a user is a sorted set with the names of the user's sessions by expiry. The
server removes both when they expire.

SPEC: <https://redis.io/docs/latest/develop/programmability/eval-intro/>.
"""

from __future__ import annotations

from hashlib import sha1

__all__ = ("DELETE", "DELETE_USER", "INSERT", "REPLACE", "TOUCH", "Script")


class Script:
    """A script, and the digest under which the server caches it.

    Args:
        source: Its text, in Lua.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = sha1(source.encode(), usedforsecurity=False).hexdigest()


# KEYS[1] is the session, ARGV[1] the prefix of index names.
_INDEX = """
local function unlist(user)
  redis.call('ZREM', ARGV[1] .. user, KEYS[1])
end

local function list(user, ends)
  local name = ARGV[1] .. user
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
# milliseconds, 8 user, absent if there is none.
_WRITE = """
local function write()
  redis.call('HSET', KEYS[1], 'd', ARGV[3], 'v', ARGV[4], 'c', ARGV[5], 'e', ARGV[6])
  if ARGV[8] then
    redis.call('HSET', KEYS[1], 'u', ARGV[8])
    list(ARGV[8], ARGV[6])
  else
    redis.call('HDEL', KEYS[1], 'u')
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
local stored = redis.call('HMGET', KEYS[1], 'v', 'u')
if stored[1] ~= ARGV[2] then
  return 0
end
if stored[2] and stored[2] ~= ARGV[8] then
  unlist(stored[2])
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
local user = redis.call('HGET', KEYS[1], 'u')
if user then
  list(user, ARGV[2])
end
redis.call('HSET', KEYS[1], 'e', ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
"""
)
DELETE = Script(
    _INDEX
    + """
local user = redis.call('HGET', KEYS[1], 'u')
if user then
  unlist(user)
end
return redis.call('DEL', KEYS[1])
"""
)
# KEYS[1] is the index, ARGV[1] the name of the session to keep.
DELETE_USER = Script("""
local count = 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if name ~= ARGV[1] then
    count = count + redis.call('DEL', name)
    redis.call('ZREM', KEYS[1], name)
  end
end
return count
""")
