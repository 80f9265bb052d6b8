// A requested sign-on or logout: stored while the user signs in, and carried in an address. It is sealed, because the
// request was verified once and is not sent again. Decisions "SAML".
import { z } from 'zod';
import type { Seal } from '../../../crypto/seal.ts';

/** How long a sealed request is valid: longer than a sign-in takes. */
export const KEPT_MS = 3_600_000;

export const KeptLogin = z.object({
  realm: z.string(),
  entityId: z.string(),
  /** null: the service provider sent no request. */
  requestId: z.string().nullable(),
  consumer: z.string(),
  relayState: z.string().optional(),
  format: z.enum(['persistent', 'transient', 'emailAddress', 'unspecified']),
  forced: z.boolean(),
  passive: z.boolean(),
  subject: z.string().optional(),
  /** The level of assurance; 0: any. */
  level: z.int(),
  /** The authentication context classes that the response may state. */
  tell: z.array(z.string()),
  /** The attributes that the consent page shows and submits with its form. */
  toAgree: z.array(z.string()).optional(),
  /** Milliseconds. */
  at: z.int(),
});
export type KeptLogin = z.infer<typeof KeptLogin>;

/** A logout requested by a service provider. */
export const KeptLogout = z.object({
  realm: z.string(),
  entityId: z.string(),
  requestId: z.string(),
  name: z.string(),
  indexes: z.array(z.string()),
  binding: z.enum(['POST', 'Redirect']),
  relayState: z.string().optional(),
  at: z.int(),
});
export type KeptLogout = z.infer<typeof KeptLogout>;

const CONTEXT = 'saml-request';

export function createKeeping({ seal, now }: { seal: Seal; now: () => Date }) {
  function read<T extends { realm: string; at: number }>(schema: z.ZodType<T>, realm: string, text: string) {
    try {
      const kept = schema.parse(JSON.parse(seal.open(Buffer.from(text, 'base64url'), CONTEXT).toString()));
      return kept.realm === realm && now().getTime() - kept.at <= KEPT_MS ? kept : undefined;
    } catch {
      return undefined;
    }
  }
  return {
    write: (kept: KeptLogin | KeptLogout): string => seal.seal(JSON.stringify(kept), CONTEXT).toString('base64url'),
    /** undefined: the request is too old, or belongs to another realm. */
    read: (realm: string, text: string): KeptLogin | undefined => read(KeptLogin, realm, text),
    readLogout: (realm: string, text: string): KeptLogout | undefined => read(KeptLogout, realm, text),
  };
}
export type Keeping = ReturnType<typeof createKeeping>;
