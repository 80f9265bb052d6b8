// The public keys of clients, by which they sign and for which their answers are encrypted: registered, or fetched from
// their jwksUri.
import { z } from 'zod';
import type { RemoteDocuments } from '../../../http/remote-documents.ts';
import type { ClientView } from './view.ts';

const Jwk = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) });
/** A set may hold keys of other kinds, for other purposes: they are ignored (RFC 7517 §5). */
const Jwks = z
  .object({ keys: z.array(z.unknown()).max(100) })
  .transform(({ keys }) => ({ keys: keys.flatMap((key) => Jwk.safeParse(key).data ?? []) }));
export type Jwks = z.infer<typeof Jwks>;

const Certified = z.looseObject({ x5c: z.array(z.string()).min(1) });
/** The keys' certificates (RFC 7517 §4.7), in DER. */
export const certificatesIn = ({ keys }: Jwks): Buffer[] =>
  keys.flatMap((key) => {
    const [own] = Certified.safeParse(key).data?.x5c ?? [];
    return own === undefined ? [] : [Buffer.from(own, 'base64')];
  });

type Keyed = Pick<ClientView, 'jwks' | 'jwksUri'>;

/** Runs `use` with a client's keys. If it throws with cached keys, it runs once more with newly fetched ones. */
export type WithClientKeys = <T>(client: Keyed, use: (keys: Jwks) => Promise<T>) => Promise<T>;

export const createClientKeys =
  (documents: RemoteDocuments): WithClientKeys =>
  async ({ jwks, jwksUri: uri }, use) => {
    if (jwks) return use(Jwks.parse(jwks));
    if (!uri) throw new Error('the client has no keys');
    try {
      return await use(Jwks.parse(await documents.get(uri)));
    } catch (error) {
      // The client may have rotated its keys since they were fetched.
      const fresh = await documents.renewed(uri);
      if (!fresh) throw error;
      return use(Jwks.parse(fresh));
    }
  };
