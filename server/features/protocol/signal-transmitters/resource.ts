// Owns: the transmitters that the realm trusts, as administrators configure them.
// Does not own: their fields and routes (contract/signal-transmitters.ts), what their events do (receiving.ts).
// Implements: decisions "Signal transmitter".
import { signalTransmitters } from '../../../contract/signal-transmitters.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

export const signalTransmittersResource = (deps: ResourceDeps) =>
  declaredResource(
    signalTransmitters,
    {
      sentTo: ({ fields: { issuer, delivery, pollUrl } }) => ({ issuer, delivery, pollUrl }),
      needs: ({ action }) => (action === 'delete' ? [] : ['users:write']),
      detail: ({ enabled, issuer, reactions }) => ({ enabled, issuer, reactions }),
    },
    deps,
  );
