// Owns: the clients that may have streams of security events, as administrators configure them.
// Does not own: their fields and routes (contract/signal-receivers.ts), their streams (features/protocol/ssf).
// Implements: decisions "Signal receiver".
import { signalReceivers } from '../../../contract/signal-receivers.ts';
import { fragment } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

export const signalReceiversResource = (deps: ResourceDeps) =>
  declaredResource(
    signalReceivers,
    {
      references: ({ key }) => [{ kind: 'client', key, path: 'clientId' }],
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      partOf: (key) => ({ kind: 'client', key }),
      clientOf: (key) => key,
      needs: ({ action, save }) =>
        action === 'delete' ? [] : ['events:read', ...(save.subjects === 'all' ? (['users:read'] as const) : [])],
      detail: ({ enabled, events, subjects }) => ({ enabled, events, subjects }),
    },
    deps,
  );
