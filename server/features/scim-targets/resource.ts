// Owns: where people and groups are to be provisioned to, as administrators keep it; the answer says that nothing is sent yet.
// Does not own: sealing the token (resource/at-rest.ts), the realm's own SCIM server.
// Implements: specification 2.10, 4.10; decisions "SCIM target".
import { ScimTarget, scimTargetRoutes } from '../../contract/scim-targets.ts';
import type { Seal } from '../../crypto/seal.ts';
import { sealed } from '../../resource/at-rest.ts';
import { type Resource, resource } from '../../resource/resource.ts';

export const createScimTargetResource = ({ seal, now }: { seal: Seal; now: () => Date }): Resource =>
  resource(
    {
      section: 'scimTargets',
      wire: ScimTarget,
      routes: scimTargetRoutes,
      table: {
        name: 'scim_target',
        columns: {
          url: 'text',
          enabled: 'boolean',
          users: 'boolean',
          groups: 'boolean',
          filter: 'text',
          mappings: 'jsonb',
        },
        secrets: { secret: sealed(seal, 'scim-target') },
      },
      fresh: () => ({ enabled: true, users: true, groups: true, filter: null, mappings: {} }),
      required: ['url'],
      sentTo: ({ fields: { url } }) => ({ url }),
      shown: () => ({ status: null, supported: false }),
      // The address stays out of the audit log: a token may stand in it.
      detail: ({ enabled, users, groups }) => ({ enabled, users, groups }),
    },
    { now },
  );
