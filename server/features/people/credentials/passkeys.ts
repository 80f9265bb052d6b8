// Checks and sets up passkeys (WebAuthn Level 3). It asks for no attestation: the make of an authenticator doesn't matter
// here. The flow decides which step asks for a passkey; features/authentication/authenticators/webauthn.ts shows the page.
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { fulfilAction } from '../../../domain/required-actions.ts';
import type { Site } from '../../../domain/site.ts';
import { type PersonStanding, standingOf } from '../../../domain/standing.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import { createPasskeyChallenges } from './passkey-challenges.ts';
import * as store from './passkey-store.ts';
import type { KnownUser } from './service.ts';
import { forgetFailures } from './store.ts';

export type UserVerification = 'required' | 'preferred' | 'discouraged';

export interface PasskeyDeps {
  sql: Sql;
  realmSql: RealmSql;
  seal: Seal;
  notify: Notify;
  now: () => Date;
  newId: () => string;
}

export interface UsedKey {
  credentialId: string;
  /** The user has also shown the authenticator who they are, by PIN or biometrics. */
  userVerified: boolean;
  /** The key may have left the device, for example to a cloud. */
  synced: boolean;
}
export type PasskeyVerdict =
  | ({ ok: true; user: KnownUser; standing: PersonStanding } & UsedKey)
  | { ok: false; reason: Refusal; user?: KnownUser | undefined };
/**
 * `late`: the challenge has expired; `used`: it was signed before; `cross-origin`: signed in a page that shows ours in a
 * frame.
 */
type Refusal = 'unreadable' | 'unknown' | 'wrong' | 'late' | 'cross-origin' | 'used' | 'counter' | 'disabled';

const TIMEOUT_MS = 120_000;
/** EdDSA, ES256, RS256: the algorithms that WebAuthn recommends. */
const ALGORITHMS = [-8, -7, -257];
const text = z.string().max(4096);
const Transports = z.array(z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])).max(10);
const common = { id: text, rawId: text, type: z.literal('public-key'), clientExtensionResults: z.object({}) };
const Asserted = z.object({
  ...common,
  response: z.object({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.exactOptional(),
  }),
});
const Attested = z.object({
  ...common,
  response: z.object({
    clientDataJSON: text,
    attestationObject: z.string().max(8192),
    transports: Transports.catch([]).default([]),
  }),
});

/** Parses what a form sent; undefined: no browser sends such a value. */
function read<T>(schema: z.ZodType<T>, sent: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(sent)).data;
  } catch {
    return undefined;
  }
}
/** Loaded when it is first needed: that takes longer than the rest of a sign-in. */
const library = () => import('@simplewebauthn/server');
const handleOf = ({ id }: Pick<KnownUser, 'id'>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(id.replaceAll('-', ''), 'hex'));
const fromBase64 = (value: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(value, 'base64url'));
const toBase64 = (value: Uint8Array): string => Buffer.from(value).toString('base64url');

export function createPasskeys({ sql, realmSql, seal, notify, now, newId }: PasskeyDeps) {
  const challenges = createPasskeyChallenges({ seal, now });
  const theirs = async (realm: string, { id }: Pick<KnownUser, 'id'>, { rpId }: Site) =>
    (await store.ofPerson(sql, realm, id, rpId)).map(({ secret }) => ({
      type: 'public-key' as const,
      id: secret.credentialId,
      transports: secret.transports,
    }));

  return {
    /**
     * The options by which a browser creates a passkey (`PublicKeyCredentialCreationOptionsJSON`).
     * @param how `challenge`: a value that only this sign-in, link or ticket has; each call derives a new challenge from it
     */
    creation: async (
      realm: string,
      user: KnownUser,
      {
        site,
        realmName,
        challenge,
        userVerification = 'preferred',
      }: { site: Site; realmName: string; challenge: string; userVerification?: UserVerification },
    ): Promise<object> => ({
      rp: { id: site.rpId, name: realmName },
      user: { id: toBase64(handleOf(user)), name: user.username, displayName: user.username },
      challenge: challenges.make({ realm, purpose: 'set-up', binding: challenge }),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT_MS,
      excludeCredentials: await theirs(realm, user, site),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
      attestation: 'none',
    }),

    /**
     * The options by which a browser asks for a passkey (`PublicKeyCredentialRequestOptionsJSON`). Without a user the
     * browser offers all its passkeys for this site. `challenge` as in {@link creation}.
     */
    request: async (
      realm: string,
      user: KnownUser | undefined,
      { site, challenge, userVerification }: { site: Site; challenge: string; userVerification: UserVerification },
    ): Promise<object> => ({
      challenge: challenges.make({ realm, purpose: 'use', binding: challenge }),
      rpId: site.rpId,
      timeout: TIMEOUT_MS,
      userVerification,
      allowCredentials: user ? await theirs(realm, user, site) : [],
    }),

    /**
     * @returns undefined: the answer is no valid passkey, the passkey exists already, or its challenge was used or has
     * expired
     * @param made `newAccount`: the passkey is created with the account and its only credential, so the user gets no mail;
     * `userVerification`: as the options asked
     */
    async enrol(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      made: {
        sent: string;
        site: Site;
        challenge: string;
        label: string | null;
        newAccount?: true;
        userVerification?: UserVerification;
      },
    ): Promise<UsedKey | undefined> {
      const { sent, site, challenge, label, newAccount = false } = made;
      const response = read(Attested, sent);
      if (!response) return undefined;
      const bound = { realm, purpose: 'set-up', binding: challenge } as const;
      const signed = challenges.read(response.response.clientDataJSON, bound);
      if (!signed.ok) return undefined;
      const { verifyRegistrationResponse } = await library();
      const verified = await verifyRegistrationResponse({
        response,
        // `challenges.read` has checked it above.
        expectedChallenge: () => true,
        expectedOrigin: site.origin,
        expectedRPID: site.rpId,
        requireUserVerification: newAccount || made.userVerification === 'required',
        supportedAlgorithmIDs: ALGORITHMS,
      }).catch(() => undefined);
      if (!verified?.verified) return undefined;
      const { credential, credentialDeviceType: deviceType, credentialBackedUp: backedUp } = verified.registrationInfo;
      const { transports } = response.response;
      const key = { credentialId: credential.id, publicKey: toBase64(credential.publicKey), rpId: site.rpId };
      const id = newId();
      const secret = { ...key, transports, deviceType, backedUp };
      const row = { id, label, secret, counter: credential.counter, now: now(), once: signed.once };
      if (!(await store.insert(tx.sql, realm, user.id, row))) return undefined;
      await fulfilAction(tx.sql, realm, [user.id], 'CONFIGURE_PASSKEY');
      const subject = userParty(user.id, user.username);
      const data = { credentialId: id, type: 'webauthn', deviceType, backedUp };
      tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject, data });
      if (!newAccount) await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
      const { userVerified } = verified.registrationInfo;
      return { credentialId: id, userVerified, synced: deviceType === 'multiDevice' };
    },

    /**
     * @param user the user whose passkey it must be; undefined: any user, but then the authenticator must have verified the
     * user
     */
    async check(
      realm: string,
      user: KnownUser | undefined,
      asked: { sent: string; site: Site; challenge: string; userVerification: UserVerification },
    ): Promise<PasskeyVerdict> {
      const response = read(Asserted, asked.sent);
      if (!response) return { ok: false, reason: 'unreadable', user };
      const row = await store.find(sql, realm, response.id);
      if (!row || (user && row.user_id !== user.id)) return { ok: false, reason: 'unknown', user };
      const { id, secret } = row;
      const owner = { id: row.user_id, username: row.username };
      const refuse = (reason: Refusal): PasskeyVerdict => ({ ok: false, reason, user: owner });
      const { userHandle, clientDataJSON } = response.response;
      const names = userHandle === undefined ? user !== undefined : userHandle === toBase64(handleOf(owner));
      if (!names || secret.rpId !== asked.site.rpId) return refuse('wrong');
      const signed = challenges.read(clientDataJSON, { realm, purpose: 'use', binding: asked.challenge });
      if (!signed.ok) return refuse(signed.reason);
      const { verifyAuthenticationResponse } = await library();
      const verified = await verifyAuthenticationResponse({
        response,
        // `challenges.read` has checked it above.
        expectedChallenge: () => true,
        expectedOrigin: asked.site.origin,
        expectedRPID: asked.site.rpId,
        // The SQL statement compares counters.
        credential: { id: secret.credentialId, publicKey: fromBase64(secret.publicKey), counter: 0 },
        requireUserVerification: user === undefined || asked.userVerification === 'required',
      }).catch(() => undefined);
      if (!verified?.verified) return refuse('wrong');
      const { newCounter: counter, credentialBackedUp: backedUp, userVerified } = verified.authenticationInfo;
      // One statement spends the challenge and stores the key's counter, before anything relies on this proof. If a later
      // step fails, the user has to touch the key again.
      const used = await store.use(realmSql(realm), realm, id, { counter, backedUp, now: now(), once: signed.once });
      if (used !== 'counted') return refuse(used === 'spent before' ? 'used' : 'counter');
      if (!row.enabled) return refuse('disabled');
      // The sign-in knew the user before: if it asked for a password, the password was right. So the failures are
      // forgotten.
      if (user) await forgetFailures(realmSql(realm), realm, [user.id]);
      const synced = secret.deviceType === 'multiDevice';
      return { ok: true, user: owner, credentialId: id, standing: standingOf(row), userVerified, synced };
    },
  };
}
export type Passkeys = ReturnType<typeof createPasskeys>;
