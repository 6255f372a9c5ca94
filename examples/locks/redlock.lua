-- The Redlock algorithm, in the five steps of the Redis documentation.
--
--   fencepost --lock examples/locks/redlock.lua --seed 7 --fault clock-jump

lock = { deployment = "independent" }

local QUORUM = #masters // 2 + 1
local DELETE_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end]]

local function delete(master, key, owner)
  local answered, deleted = pcall(master.script, DELETE_IF_OWNED, key, owner)
  if answered then return deleted == 1 end
  return nil, deleted
end

function acquire(key, ttl)
  local owner = random_hex(20)
  local valid_until = monotonic() + math.max(ttl - (ttl // 100 + 2), 0)
  local locked, votes = 0, {}
  for i, master in ipairs(masters) do
    local answered, set = pcall(master.call, "SET", key, owner, "NX", "PX", ttl)
    votes[i] = answered and (set and "locked" or "refused") or is_unknown(set) and "unknown" or "unreached"
    if votes[i] == "locked" then locked = locked + 1 end
  end
  local in_time = valid_until > monotonic()
  if locked >= QUORUM and in_time then return { owner = owner, valid_until = valid_until } end

  local may_stand = false
  for i, master in ipairs(masters) do
    local deleted = delete(master, key, owner)
    if not deleted and (votes[i] == "unknown" or votes[i] == "locked" and deleted == nil) then
      may_stand = true
    end
  end
  local reason = "locked " .. locked .. " of " .. #masters .. (in_time and "" or ", too late")
  if may_stand then unknown(reason) end
  return nil, reason
end

function release(key, owner)
  local removals, reached = {}, {}
  for attempt = 1, 3 do
    if attempt > 1 then sleep(retry_delay()) end
    local removed, absent = 0, 0
    for i, master in ipairs(masters) do
      if not removals[i] then
        local deleted, failure = delete(master, key, owner)
        if deleted then
          removals[i] = "removed"
        elseif deleted == false then
          removals[i] = reached[i] and "gone" or "absent"
        else
          reached[i] = reached[i] or is_unknown(failure)
        end
      end
      if removals[i] == "removed" then removed = removed + 1 end
      if removals[i] == "absent" then absent = absent + 1 end
    end
    if removed >= QUORUM then return true end
    if #masters - absent < QUORUM then return false end
    if attempt == 3 then
      unknown(removed .. " of " .. #masters .. " masters removed the key, " .. absent .. " did not have it")
    end
  end
end
