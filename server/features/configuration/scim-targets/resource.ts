// Owns: the targets to which users and groups are provisioned, as administrators configure them, with their status.
// Does not own: their fields and routes (contract/scim-targets.ts), sending to them (features/operations/scim/provision.ts).
// Implements: specification 2.10, 4.10; decisions "SCIM target".
import { scimTargets } from '../../../contract/scim-targets.ts';
import { fragment } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

const status = fragment`(
  select jsonb_build_object('inStep', l.in_step, 'waiting', l.waiting, 'failed', l.failed, 'lastError', s.last_error,
    'lastRunAt', (extract(epoch from s.last_run_at) * 1000)::bigint)
  from scim_target_state s cross join lateral (
    select count(*) filter (where due_at is null) as in_step, count(*) filter (where due_at is not null and attempts = 0) as waiting,
      count(*) filter (where due_at is not null and attempts > 0) as failed
    from scim_link where realm_id = s.realm_id and target_id = s.target_id
  ) l where s.realm_id = t.realm_id and s.target_id = t.id)`;

export const scimTargetsResource = (deps: ResourceDeps) =>
  declaredResource(
    scimTargets,
    {
      table: { facts: { status } },
      sentTo: ({ fields: { url } }) => ({ url }),
      needs: ({ save: { enabled, users, groups } }) =>
        enabled === true ? [...(users ? ['users:read'] : []), ...(groups ? ['groups:read'] : [])] : [],
      // The address stays out of the audit log, because it may contain a token.
      detail: ({ enabled, users, groups }) => ({ enabled, users, groups }),
    },
    deps,
  );
