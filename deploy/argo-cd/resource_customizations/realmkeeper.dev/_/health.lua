local hs = { status = "Progressing", message = "Waiting for the operator" }
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  -- what stands in the conditions is of a former spec, unless the operator is trying this one
  for _, c in ipairs(obj.status ~= nil and obj.status.conditions or {}) do
    if c.type == "Reconciling" and c.status == "True" then hs.message = c.message end
  end
  return hs
end
for _, c in ipairs(obj.status.conditions or {}) do
  if c.status == "True" then
    if c.type == "Stalled" then return { status = "Degraded", message = c.message } end
    if c.type == "Suspended" then return { status = "Suspended", message = c.message } end
    if c.type == "Reconciling" then return { status = "Progressing", message = c.message } end
    if c.type == "Drifted" then return { status = "Healthy", message = "Drifted: " .. c.message } end
    if c.type == "Ready" then hs = { status = "Healthy", message = c.message } end
  end
end
return hs
