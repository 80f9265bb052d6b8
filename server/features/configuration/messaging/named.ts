// The users that a message names, as digests that can't be computed without the master key: a message's text is
// encrypted, and an erasure must find the messages that name the user. Specification 4.6.
import type { Seal } from '../../../crypto/seal.ts';

const CONTEXT = 'message-named';
const ofAddress = (realm: string, email: string) => `address:${realm}:${email.toLowerCase()}`;
const ofPerson = (id: string) => `person:${id}`;
const written = (digest: Buffer): string => digest.toString('base64url');

export const addressDigest = (seal: Seal, realm: string, email: string): string =>
  written(seal.digest(ofAddress(realm, email), CONTEXT));
export const personDigest = (seal: Seal, id: string): string => written(seal.digest(ofPerson(id), CONTEXT));

/** All digests that may stand for the user, by every master key. */
export const digestsOf = (seal: Seal, realm: string, { id, email }: { id: string; email: string | null }): string[] =>
  [ofPerson(id), ...(email === null ? [] : [ofAddress(realm, email)])].flatMap((text) =>
    seal.digests(text, CONTEXT).map(written),
  );
