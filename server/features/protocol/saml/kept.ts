// A sign-on or a logout that was asked for, as it is kept while the person signs in, and as it comes back in an address: sealed, since the
// request itself was verified once and is not sent again. Decisions "SAML".
import { z } from 'zod';
import type { Seal } from '../../../crypto/seal.ts';

/** For so long it may come back: as long as a sign-in takes, and more. */
export const KEPT_MS = 3_600_000;

export const KeptLogin = z.object({
  realm: z.string(),
  entityId: z.string(),
  /** Null: the service provider didn't ask. */
  requestId: z.string().nullable(),
  consumer: z.string(),
  relayState: z.string().optional(),
  format: z.enum(['persistent', 'transient', 'emailAddress', 'unspecified']),
  forced: z.boolean(),
  passive: z.boolean(),
  subject: z.string().optional(),
  /** The level of assurance; 0: any. */
  level: z.int(),
  /** As which classes it can be told. */
  tell: z.array(z.string()),
  /** The attributes that the consent page shows, which posts this back. */
  toAgree: z.array(z.string()).optional(),
  /** Milliseconds. */
  at: z.int(),
});
export type KeptLogin = z.infer<typeof KeptLogin>;

/** A logout that a service provider asked for. */
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
    /** Undefined: it is too old, or not this realm's. */
    read: (realm: string, text: string): KeptLogin | undefined => read(KeptLogin, realm, text),
    readLogout: (realm: string, text: string): KeptLogout | undefined => read(KeptLogout, realm, text),
  };
}
export type Keeping = ReturnType<typeof createKeeping>;
