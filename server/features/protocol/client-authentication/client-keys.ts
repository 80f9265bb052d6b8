// The public keys of clients, by which they sign assertions and request objects: registered, or fetched from their jwksUri.
import { z } from 'zod';
import type { RemoteDocuments } from '../../../http/remote-documents.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

const Jwk = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) });
/** A set may hold keys of other kinds, for other purposes: they are ignored (RFC 7517 §5). */
const Jwks = z
  .object({ keys: z.array(z.unknown()).max(100) })
  .transform(({ keys }) => ({ keys: keys.flatMap((key) => Jwk.safeParse(key).data ?? []) }));
export type Jwks = z.infer<typeof Jwks>;

type Keyed = Pick<ClientView, 'jwks' | 'jwksUri'>;

/** Runs `verify` with a client's keys. If it throws with cached keys, it runs once more with newly fetched ones. */
export type WithClientKeys = <T>(client: Keyed, verify: (keys: Jwks) => Promise<T>) => Promise<T>;

export const createClientKeys =
  (documents: RemoteDocuments): WithClientKeys =>
  async ({ jwks, jwksUri: uri }, verify) => {
    if (jwks) return verify(Jwks.parse(jwks));
    if (!uri) throw new Error('the client has no keys');
    try {
      return await verify(Jwks.parse(await documents.get(uri)));
    } catch (error) {
      // The client may have rotated its keys since they were fetched.
      const fresh = await documents.renewed(uri);
      if (!fresh) throw error;
      return verify(Jwks.parse(fresh));
    }
  };
