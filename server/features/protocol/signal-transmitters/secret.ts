// How the secrets of a transmitter are sealed.
import type { Seal } from '../../../crypto/seal.ts';
import { sealed } from '../../../resource/at-rest.ts';
import type { TransmitterRow } from './store.ts';

type Sealed = Pick<TransmitterRow, 'id' | 'secret' | 'access_token'>;

/** The header that goes with tokens. */
export const transmitterSecret =
  (seal: Seal) =>
  (realm: string, { id, secret }: Sealed): string | undefined =>
    secret ? sealed(seal, 'signal-transmitter').open(secret, { realm, id }) : undefined;

/** The access token for the transmitter's management of streams. */
export const transmitterToken =
  (seal: Seal) =>
  (realm: string, { id, access_token: token }: Sealed): string | undefined =>
    token ? sealed(seal, 'signal-transmitter', 'access_token').open(token, { realm, id }) : undefined;
