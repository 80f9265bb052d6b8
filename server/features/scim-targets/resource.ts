// Owns: where people and groups are to be provisioned to, as administrators keep it; the answer says that nothing is sent yet.
// Does not own: its fields and routes (contract/scim-targets.ts), the realm's own SCIM server.
// Implements: specification 2.10, 4.10; decisions "SCIM target".
import { scimTargets } from '../../contract/scim-targets.ts';
import { declaredResource, type ResourceDeps } from '../../resource/declared.ts';

export const scimTargetsResource = (deps: ResourceDeps) =>
  declaredResource(
    scimTargets,
    {
      table: {
        columns: {
          url: 'text',
          enabled: 'boolean',
          users: 'boolean',
          groups: 'boolean',
          filter: 'text',
          mappings: 'jsonb',
        },
      },
      fresh: () => ({ enabled: true, users: true, groups: true, filter: null, mappings: {} }),
      sentTo: ({ fields: { url } }) => ({ url }),
      shown: () => ({ status: null, supported: false }),
      // The address stays out of the audit log: a token may stand in it.
      detail: ({ enabled, users, groups }) => ({ enabled, users, groups }),
    },
    deps,
  );
