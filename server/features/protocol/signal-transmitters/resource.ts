// Owns: the transmitters that the realm trusts, as administrators configure them.
// Does not own: their fields and routes (contract/signal-transmitters.ts), what their events do (receiving.ts).
// Implements: decisions "Shared Signals".
import { signalTransmitters } from '../../../contract/signal-transmitters.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

export const signalTransmittersResource = (deps: ResourceDeps) =>
  declaredResource(
    signalTransmitters,
    {
      sentTo: ({ fields: { delivery, pollUrl } }) => ({ delivery, pollUrl }),
      needs: ({ action }) => (action === 'delete' ? [] : ['users:write']),
      check: ({ fields: { delivery, pollUrl } }) =>
        delivery === 'poll' && (pollUrl ?? null) === null
          ? [{ path: 'pollUrl', message: 'is required where tokens are fetched (delivery: poll)' }]
          : [],
      detail: ({ enabled, issuer, reactions }) => ({ enabled, issuer, reactions }),
    },
    deps,
  );
