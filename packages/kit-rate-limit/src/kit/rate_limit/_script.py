# SPDX-License-Identifier: MIT
"""The script that counts in Redis, atomically for all windows of a key."""

from __future__ import annotations

from ._windows import SLICES

__all__ = ("SCRIPT",)

# One hash for each key, with a field for each window: `f60` for a fixed window of 60 seconds, with
# its end and the amount used; `s60` for a sliding one, with the number of each slice and the amount
# used in it. It uses the clock of the server, since those of the machines may differ.
#
# KEYS[1]: the hash. ARGV: the cost, and for each window its field, amount and milliseconds.
# Returns 1 if the request is allowed, else 0, and for each window the amount used, the milliseconds
# until more is left, and the milliseconds until the request fits.
SCRIPT = f"""
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local cost = tonumber(ARGV[1])
local slices = {SLICES}

local function read(text)
  local pairs = {{}}
  for first, second in string.gmatch(text or '', '(%d+):(%d+)') do
    pairs[#pairs + 1] = {{tonumber(first), tonumber(second)}}
  end
  return pairs
end

local windows = {{}}
local fits = true
local life = 0
for at = 2, #ARGV, 3 do
  local one = {{field = ARGV[at], amount = tonumber(ARGV[at + 1]), ms = tonumber(ARGV[at + 2]),
    used = 0, wait = 0, pairs = {{}}}}
  one.sliding = string.sub(one.field, 1, 1) == 's'
  one.slice = math.floor(one.ms / slices)
  for _, pair in ipairs(read(redis.call('HGET', KEYS[1], one.field))) do
    local ends = pair[1]
    if one.sliding then ends = (pair[1] + slices + 1) * one.slice end
    if now < ends then
      one.used = one.used + pair[2]
      one.pairs[#one.pairs + 1] = pair
    end
  end
  local left = one.used + cost
  if left > one.amount then
    fits = false
    one.wait = one.ms
    for _, pair in ipairs(one.pairs) do
      left = left - pair[2]
      if not one.sliding then
        one.wait = pair[1] - now
      elseif left <= one.amount then
        one.wait = (pair[1] + slices + 1) * one.slice - now
        break
      end
    end
  end
  life = math.max(life, one.ms + one.slice)
  windows[#windows + 1] = one
end

local answer = {{fits and 1 or 0}}
for _, one in ipairs(windows) do
  if fits and cost > 0 then
    one.used = one.used + cost
    local last = one.pairs[#one.pairs]
    local number = now + one.ms
    if one.sliding then number = math.floor(now / one.slice) end
    if last and (last[1] == number or not one.sliding) then
      last[2] = last[2] + cost
    else
      one.pairs[#one.pairs + 1] = {{number, cost}}
    end
    local texts = {{}}
    for _, pair in ipairs(one.pairs) do
      texts[#texts + 1] = string.format('%.0f:%.0f', pair[1], pair[2])
    end
    redis.call('HSET', KEYS[1], one.field, table.concat(texts, ','))
  end
  local reset = 0
  local first = one.pairs[1]
  if first then
    reset = first[1] - now
    if one.sliding then reset = (first[1] + slices + 1) * one.slice - now end
  end
  answer[#answer + 1] = one.used
  answer[#answer + 1] = reset
  answer[#answer + 1] = one.wait
end
if fits and cost > 0 and redis.call('PTTL', KEYS[1]) < life then
  redis.call('PEXPIRE', KEYS[1], life)
end
return answer
"""
