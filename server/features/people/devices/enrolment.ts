// Owns: how a device is enrolled for a user: a token that works once, the device's proof that it has its key and, in a sign-in, the user's confirmation there.
// Does not own: approvals by the device (challenges.ts), the key's row (features/people/credentials/devices.ts).
// Implements: specification 4.11, 5; decisions "Enrolment".
import { z } from 'zod';
import { DeviceKey, type enrolDevice, type startEnrolment } from '../../../contract/devices.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newToken, sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { PushTokens } from '../../configuration/messaging/push-tokens.ts';
import type { DeviceKeys } from '../credentials/devices.ts';
import type { KnownUser } from '../credentials/service.ts';
import { verifiedDeviceProof } from './proof.ts';

const LIFETIME_SECONDS = 600;

/** The device to enrol, as it is stored until the user confirms it. */
const Device = z.object({
  name: z.string(),
  publicKey: DeviceKey,
  push: z.object({ platform: z.enum(['fcm', 'apns']), token: z.string() }).optional(),
});
type Device = z.infer<typeof Device>;

/** A valid enrolment token and its user. */
export interface OpenEnrolment {
  userId: string;
  username: string;
  challenge: string;
  expiresAt: Date;
  hash: Buffer;
  toConfirm: boolean;
}
interface Row {
  token_hash: Buffer;
  user_id: string;
  username: string;
  to_confirm: boolean;
  expires_at: Date;
}

export interface EnrolmentDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  settings: { of(realm: string): Promise<{ displayName: string } | undefined> };
  pushTokens: Pick<PushTokens, 'replace'>;
  deviceKeys: Pick<DeviceKeys, 'insert'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createEnrolments(deps: EnrolmentDeps) {
  const { sql, realmSql, transact, seal, settings, pushTokens, deviceKeys, baseUrl, now, newId } = deps;
  const contextOf = (realm: string, hash: Buffer) => `device-enrolment:${realm}:${hash.toString('hex')}`;
  const opened = (realm: string, hash: Buffer, sealed: string): unknown =>
    JSON.parse(seal.open(Buffer.from(sealed, 'base64'), contextOf(realm, hash)).toString());
  const challengeOf = (token: string): string => sha256(`enrol:${token}`).toString('base64url');

  const insert = (on: Sql, realm: string, userId: string, token: string, toConfirm: boolean, expiresAt: Date) => on`
    insert into device_enrolment (realm_id, token_hash, user_id, to_confirm, expires_at)
    values (${realm}, ${sha256(token)}, ${userId}, ${toConfirm}, ${expiresAt})`;
  const endOfLife = () => new Date(now().getTime() + LIFETIME_SECONDS * 1000);

  async function activate(tx: Tx, by: By, realm: string, user: KnownUser, id: string, device: Device): Promise<void> {
    const { name, publicKey, push } = device;
    await deviceKeys.insert(tx, by, realm, user, { id, label: name, publicKey });
    if (push) await pushTokens.replace(tx, by, realm, { userId: user.id, deviceName: name, credentialId: id, ...push });
  }

  return {
    /**
     * The address in the QR code for the app. The token stands behind `#`: a browser or camera app that opens the address
     * doesn't send it.
     */
    urlOf: (realm: string, token: string): string => `${baseUrl}/realms/${realm}/device/enroll#${token}`,

    /** Offers an enrolment, by an administrator. The device counts at once, without a confirmation. */
    async offer(tx: Tx, by: By, realm: string, user: KnownUser): Promise<{ token: string; expiresAt: Date }> {
      const token = newToken('svc_enr_');
      const expiresAt = endOfLife();
      await insert(tx.sql, realm, user.id, token, false, expiresAt);
      const subject = userParty(user.id, user.username);
      tx.record({ type: 'DEVICE_ENROLMENT_OFFERED', realm, by, subject, data: { expiresAt: expiresAt.getTime() } });
      return { token, expiresAt };
    },

    /** Begins an enrolment in a sign-in. The sign-in has to {@link confirm} the device. */
    async begin(realm: string, user: KnownUser): Promise<string> {
      const token = newToken('svc_enr_');
      await insert(realmSql(realm), realm, user.id, token, true, endOfLife());
      return token;
    },

    /** The device that was enrolled with a token of this sign-in; `over`: the token is unknown or has expired. */
    async pending(realm: string, userId: string, token: string): Promise<{ name: string; over: boolean } | undefined> {
      const hash = sha256(token);
      const [row] = await sql<{ device: string | null; expires_at: Date }>`
        select device, expires_at from device_enrolment
        where realm_id = ${realm} and token_hash = ${hash} and user_id = ${userId}`;
      if (!row) return { name: '', over: true };
      if (!row.device) return row.expires_at <= now() ? { name: '', over: true } : undefined;
      return {
        name: Device.parse(opened(realm, hash, row.device)).name,
        over: false,
      };
    },

    /** @returns the credential's id; undefined: no device waits for a confirmation, or it has expired */
    async confirm(tx: Tx, by: By, realm: string, user: KnownUser, token: string): Promise<string | undefined> {
      const hash = sha256(token);
      const [row] = await tx.sql<{ device: string; device_id: string }>`
        delete from device_enrolment where realm_id = ${realm} and token_hash = ${hash} and user_id = ${user.id}
          and to_confirm and device is not null and expires_at > ${now()}
        returning device, device_id`;
      if (!row) return undefined;
      const device = Device.parse(opened(realm, hash, row.device));
      await activate(tx, by, realm, user, row.device_id, device);
      return row.device_id;
    },

    async find(realm: string, token: string): Promise<OpenEnrolment | undefined> {
      if (!wellFormed(token, 'svc_enr_')) return undefined;
      const [row] = await sql<Row>`
        select e.token_hash, e.user_id, u.username, e.to_confirm, e.expires_at
        from device_enrolment e join realm_user u on u.realm_id = e.realm_id and u.id = e.user_id
        where e.realm_id = ${realm} and e.token_hash = ${sha256(token)} and e.used_at is null
          and e.expires_at > ${now()} and u.enabled`;
      return (
        row && {
          userId: row.user_id,
          username: row.username,
          challenge: challengeOf(token),
          expiresAt: row.expires_at,
          hash: row.token_hash,
          toConfirm: row.to_confirm,
        }
      );
    },

    async start(realm: string, found: OpenEnrolment): Promise<z.input<(typeof startEnrolment)['response']>> {
      const { username, challenge, expiresAt } = found;
      const displayName = (await settings.of(realm))?.displayName ?? realm;
      const algorithms: ('ES256' | 'EdDSA')[] = ['ES256', 'EdDSA'];
      return { challenge, algorithms, realm, displayName, username, expiresAt: expiresAt.getTime() };
    },

    async enrol(
      by: By,
      realm: string,
      found: OpenEnrolment,
      { proof, ...device }: z.output<(typeof enrolDevice)['body']>,
    ): Promise<z.input<(typeof enrolDevice)['response']>> {
      const audience = `${baseUrl}/realms/${realm}/device/enroll`;
      const claims = await verifiedDeviceProof(proof, { key: device.publicKey, audience, now: now() });
      if (claims?.challenge !== found.challenge) {
        const message = 'is not signed by this key over the challenge, for this address and moment';
        throw new Problem('invalid-request', undefined, { errors: [{ path: 'proof', message }] });
      }
      const { hash, toConfirm, userId, username } = found;
      const deviceId = newId();
      const kept = toConfirm ? seal.seal(JSON.stringify(device), contextOf(realm, hash)).toString('base64') : null;
      await transact(realm, async (tx) => {
        const [used] = await tx.sql`
          update device_enrolment set used_at = ${now()}, device_id = ${deviceId}, device = ${kept}
          where realm_id = ${realm} and token_hash = ${hash} and used_at is null returning user_id`;
        if (!used) throw new Problem('unauthenticated', 'The enrolment token was used before');
        const subject = userParty(userId, username);
        tx.record({ type: 'DEVICE_ENROLMENT_USED', realm, by, subject, data: { deviceId, pending: toConfirm } });
        if (!toConfirm) await activate(tx, by, realm, { id: userId, username }, deviceId, device);
      });
      return { deviceId, status: toConfirm ? 'pending' : 'active' };
    },
  };
}
export type Enrolments = ReturnType<typeof createEnrolments>;
