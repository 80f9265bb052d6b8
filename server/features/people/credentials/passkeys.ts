// Checks and sets up passkeys (WebAuthn Level 3). The realm's settings decide which authenticators it accepts
// (passkey-policy.ts). The flow decides which step asks for a passkey; features/authentication/authenticators/webauthn.ts shows the page.
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { freshSettings, type RealmSettingsDto } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { fulfilAction } from '../../../domain/required-actions.ts';
import type { Site } from '../../../domain/site.ts';
import { type PersonStanding, standingOf } from '../../../domain/standing.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import { readAuthenticator } from './authenticator-metadata.ts';
import { createPasskeyChallenges } from './passkey-challenges.ts';
import { library, readStatement } from './passkey-library.ts';
import {
  attachmentOf,
  badStatusOf,
  isProven,
  type NotAccepted,
  type PasskeyPolicy,
  refusalOf,
} from './passkey-policy.ts';
import * as store from './passkey-store.ts';
import type { KnownUser } from './service.ts';
import { forgetFailures } from './store.ts';

export type UserVerification = 'required' | 'preferred' | 'discouraged';

export interface PasskeyDeps {
  sql: Sql;
  realmSql: RealmSql;
  seal: Seal;
  notify: Notify;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
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
  /** `unknown`: the id of the passkey, unless its sender has proven the key of one that a realm knows. */
  | { ok: false; reason: Refusal; user?: KnownUser | undefined; unknown?: string };
/** `invalid`: no valid new passkey; otherwise the realm doesn't accept the authenticator, and the event says so. */
export type EnrolVerdict = ({ ok: true } & UsedKey) | { ok: false; reason: 'invalid' | NotAccepted };
/**
 * `late`: the challenge has expired; `used`: it was signed before; `cross-origin`: signed in a page that shows ours in a
 * frame.
 */
type Refusal =
  | 'unreadable'
  | 'unknown'
  | 'wrong'
  | 'late'
  | 'cross-origin'
  | 'used'
  | 'counter'
  | 'disabled'
  | 'compromised';

export interface PasskeySignals {
  rpId: string;
  userId: string;
  name: string;
  displayName: string;
  accepted: readonly string[];
}

/** WebAuthn §6.5.1: an id has 1023 bytes at most. */
const LONGEST_ID = 1364;
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
    // With the certificates of a TPM or an enterprise it is larger.
    attestationObject: z.string().max(32_768),
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
/** The id of the user in authenticators (user handle). */
const handleOf = ({ id }: Pick<KnownUser, 'id'>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(id.replaceAll('-', ''), 'hex'));
const fromBase64 = (value: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(value, 'base64url'));
const toBase64 = (value: Uint8Array): string => Buffer.from(value).toString('base64url');

const rpIdOf = ({ passkeyRpId }: Pick<PasskeyPolicy, 'passkeyRpId'>, { rpId }: Site): string => passkeyRpId ?? rpId;
/** A page of a related origin may use the realm's passkeys (WebAuthn §5.11). */
const originsOf = ({ passkeyRelatedOrigins: related }: PasskeyPolicy, { origin }: Site): string[] => [
  origin,
  ...related,
];

/** Whether the key signed the answer, whatever challenge and page it was for. */
async function isSignedBy(publicKey: string, { response }: z.infer<typeof Asserted>): Promise<boolean> {
  const { verifySignature } = await import('@simplewebauthn/server/helpers');
  const client = sha256(Buffer.from(response.clientDataJSON, 'base64url'));
  const data = new Uint8Array(Buffer.concat([Buffer.from(response.authenticatorData, 'base64url'), client]));
  const signed = { signature: fromBase64(response.signature), data, credentialPublicKey: fromBase64(publicKey) };
  try {
    return await verifySignature(signed);
  } catch {
    return false;
  }
}

export function createPasskeys({ sql, realmSql, seal, notify, settings, now, newId }: PasskeyDeps) {
  const challenges = createPasskeyChallenges({ seal, now });
  const policyOf = async (realm: string): Promise<PasskeyPolicy> => (await settings.of(realm)) ?? freshSettings(realm);
  const theirs = async (realm: string, { id }: Pick<KnownUser, 'id'>, rpId: string) =>
    (await store.ofPerson(sql, realm, id, rpId)).map(({ secret }) => ({
      type: 'public-key' as const,
      id: secret.credentialId,
      transports: secret.transports,
    }));
  /**
   * Names the passkey unless its sender has proven the key of one that a realm knows. Browsers keep the passkeys of all
   * realms of a host together, so each realm counts. A stranger without the key gets the same answer for any id.
   */
  async function unprovenId(response: z.infer<typeof Asserted>): Promise<{ unknown?: string }> {
    const { id, rawId } = response;
    if (id !== rawId || id.length > LONGEST_ID || id === '' || toBase64(fromBase64(id)) !== id) return {};
    for (const key of await store.keysAnywhere(sql, id)) if (await isSignedBy(key, response)) return {};
    return { unknown: id };
  }

  return {
    /**
     * The options by which a browser creates a passkey (`PublicKeyCredentialCreationOptionsJSON`).
     * @param how `challenge`: a value that only this sign-in, link or ticket has; each call derives a new challenge from it
     */
    async creation(
      realm: string,
      user: KnownUser,
      {
        site,
        realmName,
        challenge,
        userVerification = 'preferred',
      }: { site: Site; realmName: string; challenge: string; userVerification?: UserVerification },
    ): Promise<object> {
      const policy = await policyOf(realm);
      const { passkeyHints: hints, passkeyAttestation: attestation } = policy;
      const rpId = rpIdOf(policy, site);
      const residentKey = { residentKey: 'required', requireResidentKey: true } as const;
      return {
        rp: { id: rpId, name: realmName },
        user: { id: toBase64(handleOf(user)), name: user.username, displayName: user.username },
        challenge: challenges.make({ realm, purpose: 'set-up', binding: challenge }),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        timeout: TIMEOUT_MS,
        excludeCredentials: await theirs(realm, user, rpId),
        authenticatorSelection: { ...residentKey, userVerification, ...attachmentOf(policy) },
        ...(hints.length > 0 && { hints }),
        attestation,
      };
    },

    /**
     * The options by which a browser asks for a passkey (`PublicKeyCredentialRequestOptionsJSON`). Without a user the
     * browser offers all its passkeys for this site. `challenge` as in {@link creation}.
     */
    async request(
      realm: string,
      user: KnownUser | undefined,
      { site, challenge, userVerification }: { site: Site; challenge: string; userVerification: UserVerification },
    ): Promise<object> {
      const policy = await policyOf(realm);
      const rpId = rpIdOf(policy, site);
      return {
        challenge: challenges.make({ realm, purpose: 'use', binding: challenge }),
        rpId,
        timeout: TIMEOUT_MS,
        userVerification,
        allowCredentials: user ? await theirs(realm, user, rpId) : [],
        ...(policy.passkeyHints.length > 0 && { hints: policy.passkeyHints }),
      };
    },

    /** The data by which the account page tells the browser the user's passkeys (Signal API, WebAuthn §5.1.10). */
    async signals(realm: string, user: KnownUser, site: Site): Promise<PasskeySignals> {
      const rpId = rpIdOf(await policyOf(realm), site);
      const accepted = (await theirs(realm, user, rpId)).map(({ id }) => id);
      return { rpId, userId: toBase64(handleOf(user)), name: user.username, displayName: user.username, accepted };
    },

    /**
     * @returns `invalid`: the answer is no valid passkey, the passkey exists already, or its challenge was used or has
     * expired
     * @param made `newAccount`: the passkey is created with the account and its only credential, so the user gets no mail;
     * `userVerification`: as the options asked; `deviceBound`: the key must not be able to leave its authenticator;
     * `conditional`: the browser created it without asking the user (conditional create)
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
        deviceBound?: boolean;
        conditional?: true;
      },
    ): Promise<EnrolVerdict> {
      const { sent, site, challenge, label, newAccount = false } = made;
      const invalid = { ok: false, reason: 'invalid' } as const;
      const policy = await policyOf(realm);
      const rpId = rpIdOf(policy, site);
      const response = read(Attested, sent);
      if (!response) return invalid;
      const page = { realm, purpose: 'set-up', binding: challenge } as const;
      const signed = challenges.read(response.response.clientDataJSON, page);
      if (!signed.ok) return invalid;
      const statement = await readStatement(response.response.attestationObject, now());
      if (!statement) return invalid;
      const { verifyRegistrationResponse } = await library();
      const verified = await verifyRegistrationResponse({
        response,
        // `challenges.read` has checked it above.
        expectedChallenge: () => true,
        expectedOrigin: originsOf(policy, site),
        expectedRPID: rpId,
        requireUserPresence: !made.conditional,
        requireUserVerification: newAccount || made.userVerification === 'required',
        supportedAlgorithmIDs: ALGORITHMS,
      }).catch(() => undefined);
      if (!verified?.verified) return invalid;
      const { credential, credentialDeviceType: deviceType, credentialBackedUp: backedUp } = verified.registrationInfo;
      const synced = deviceType === 'multiDevice';
      const { aaguid } = verified.registrationInfo;
      const { format, certificates, ownRoots } = statement;
      const authenticator = { aaguid, format, certificates, synced };
      const entry = await readAuthenticator(tx.sql, aaguid);
      const proven = isProven(authenticator, entry, { ownRoots, now: now() });
      const subject = userParty(user.id, user.username);
      const unbound = made.deviceBound && synced ? ('synced' as const) : undefined;
      const refused = unbound ?? refusalOf(policy, authenticator, { entry, proven });
      if (refused) {
        tx.record({ type: 'PASSKEY_REFUSED', realm, by, subject, data: { reason: refused, aaguid, format } });
        return { ok: false, reason: refused };
      }
      const { transports } = response.response;
      const key = { credentialId: credential.id, publicKey: toBase64(credential.publicKey), rpId };
      const id = newId();
      const make = { aaguid, format, proven, ...(entry && { statuses: entry.statuses }) };
      const secret = { ...key, transports, deviceType, backedUp, ...make };
      const row = { id, label, secret, counter: credential.counter, now: now(), once: signed.once };
      if (!(await store.insert(tx.sql, realm, user.id, row))) return invalid;
      await fulfilAction(tx.sql, realm, [user.id], 'CONFIGURE_PASSKEY');
      const data = { credentialId: id, type: 'webauthn', deviceType, backedUp, aaguid, proven };
      tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject, data });
      if (!newAccount) await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
      const { userVerified } = verified.registrationInfo;
      return { ok: true, credentialId: id, userVerified, synced };
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
      const signed = challenges.read(response.response.clientDataJSON, {
        realm,
        purpose: 'use',
        binding: asked.challenge,
      });
      const found = row && { id: row.user_id, username: row.username };
      if (!signed.ok && signed.reason !== 'wrong') return { ok: false, reason: signed.reason, user: user ?? found };
      if (!row || (user && row.user_id !== user.id))
        return { ok: false, reason: 'unknown', user, ...(await unprovenId(response)) };
      const { id, secret } = row;
      const owner = { id: row.user_id, username: row.username };
      const refuse = (reason: Refusal): PasskeyVerdict => ({ ok: false, reason, user: owner });
      const { userHandle } = response.response;
      const names = userHandle === undefined ? user !== undefined : userHandle === toBase64(handleOf(owner));
      const policy = await policyOf(realm);
      const rpId = rpIdOf(policy, asked.site);
      const wrong = async () => ({ ...refuse('wrong'), ...(await unprovenId(response)) });
      if (!names || secret.rpId !== rpId || !signed.ok) return wrong();
      const { verifyAuthenticationResponse } = await library();
      const verified = await verifyAuthenticationResponse({
        response,
        // `challenges.read` has checked it above.
        expectedChallenge: () => true,
        expectedOrigin: originsOf(policy, asked.site),
        expectedRPID: rpId,
        // The SQL statement compares counters.
        credential: { id: secret.credentialId, publicKey: fromBase64(secret.publicKey), counter: 0 },
        requireUserVerification: user === undefined || asked.userVerification === 'required',
      }).catch(() => undefined);
      if (!verified?.verified) return wrong();
      const { newCounter: counter, credentialBackedUp: backedUp, userVerified } = verified.authenticationInfo;
      const { credentialDeviceType: deviceType } = verified.authenticationInfo;
      // One statement spends the challenge and stores the key's counter, before anything relies on this proof. If a later
      // step fails, the user has to touch the key again.
      const used = await store.use(realmSql(realm), realm, id, { counter, backedUp, now: now(), once: signed.once });
      if (used !== 'counted') return refuse(used === 'spent before' ? 'used' : 'counter');
      if (!row.enabled) return refuse('disabled');
      if (policy.passkeyRefusedAtSignIn && badStatusOf(policy, secret.statuses ?? [])) return refuse('compromised');
      // The sign-in knew the user before: if it asked for a password, the password was right. So the failures are
      // forgotten.
      if (user) await forgetFailures(realmSql(realm), realm, [user.id]);
      // An authenticator must not change this (§6.1.3). One that does counts as able to sync.
      const synced = secret.deviceType === 'multiDevice' || deviceType === 'multiDevice';
      return { ok: true, user: owner, credentialId: id, standing: standingOf(row), userVerified, synced };
    },
  };
}
export type Passkeys = ReturnType<typeof createPasskeys>;
