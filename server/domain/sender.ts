// Sender-constrained tokens: the keys that a request proves, and the keys that a token is bound to by its claim `cnf` (RFC 7800). Two
// proofs exist: DPoP (RFC 9449 §6.1) and the certificate of a TLS connection (RFC 8705 §3.1). Pure.
import { z } from 'zod';

/** What a request proves of its sender. */
export interface Sender {
  /** The thumbprint of the key of a DPoP proof. */
  jkt?: string | undefined;
  /** The thumbprint of the client's certificate. */
  x5t?: string | undefined;
}

/** The claim `cnf`. A member that this server does not know could be one that it does not check. */
export const Confirmation = z
  .strictObject({ jkt: z.string().optional(), 'x5t#S256': z.string().optional() })
  .refine((cnf) => Object.keys(cnf).length > 0);
export type Confirmation = z.infer<typeof Confirmation>;

/** The claim that binds a token to all of these keys; undefined: a bearer token. */
export const confirmationOf = ({ jkt, x5t }: Sender): Confirmation | undefined =>
  jkt === undefined && x5t === undefined
    ? undefined
    : { ...(jkt !== undefined && { jkt }), ...(x5t !== undefined && { 'x5t#S256': x5t }) };

/** The keys that the claim names. */
export const senderOf = (cnf: Confirmation | undefined): Sender => ({ jkt: cnf?.jkt, x5t: cnf?.['x5t#S256'] });

/** Whether the sender proves every key that the token is bound to. */
export const isProven = ({ cnf }: { cnf?: Confirmation | undefined }, sender: Sender): boolean =>
  cnf === undefined ||
  ((cnf.jkt === undefined || cnf.jkt === sender.jkt) &&
    (cnf['x5t#S256'] === undefined || cnf['x5t#S256'] === sender.x5t));

/** The keys of a token that is issued for another one, whose keys the sender has proven: it is bound to these at least. */
export const boundAs = (
  { cnf: before }: { cnf?: Confirmation | undefined },
  cnf: Confirmation | undefined,
): Confirmation | undefined => (before === undefined ? cnf : { ...before, ...cnf });

/** RFC 8705 §3: a certificate-bound token has the type of a bearer token. */
export const tokenTypeOf = (cnf: Confirmation | undefined): 'Bearer' | 'DPoP' =>
  cnf?.jkt === undefined ? 'Bearer' : 'DPoP';
