// Owns: approvals on a device: the push of a waiting sign-in, and the QR code that a sign-in shows. Each is answered once.
// Does not own: the pages that wait (features/authentication/authenticators), authenticating callers (surface.ts).
// Implements: specification 4.11. A QR code carries all its data, sealed: showing one stores no row.
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Approval } from '../../../contract/devices.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { DeviceKeys } from '../credentials/devices.ts';
import type { Credentials, KnownUser } from '../credentials/service.ts';
import * as store from './store.ts';
import type { SigningDevice } from './surface.ts';

const PUSH_SECONDS = 120;
const QR_SECONDS = 300;
/**
 * After four pushes in ten minutes that were not approved, no further push is sent: an attacker can't wear the user down.
 */
const MOST_UNANSWERED = 4;
const WINDOW_MS = 600_000;

/** The sign-in that asks for an approval, as the device shows it. */
export interface Occasion {
  application: string | undefined;
  ipAddress: string | null;
  userAgent: string | undefined;
}
const InQr = z.object({ id: z.uuid(), until: z.int(), application: z.string().nullable(), ip: z.string().nullable() });

export interface ChallengeDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  send: Send;
  notify: Notify;
  credentials: Pick<Credentials, 'guess'>;
  deviceKeys: Pick<DeviceKeys, 'used'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

const later = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000);
const over = () => new Problem('wrong-state', 'The sign-in was answered already or has expired: start it again');
const notThere = () => new Problem('not-found', 'There is no such sign-in to approve');

export function createChallenges(deps: ChallengeDeps) {
  const { sql, transact, seal, send, notify, credentials, deviceKeys, baseUrl, now, newId } = deps;
  const qrContext = (realm: string) => `qr:${realm}`;

  function inQr(realm: string, id: string, code: string): z.infer<typeof InQr> {
    try {
      const read = InQr.parse(JSON.parse(seal.open(Buffer.from(code, 'base64url'), qrContext(realm)).toString()));
      if (read.id === id && read.until > now().getTime()) return read;
    } catch {
      // This server didn't seal the code, or it was changed.
    }
    throw notThere();
  }
  const qrChallenge = (id: string, code: string): string => sha256(`qr:${id}:${code}`).toString('base64url');

  async function waiting(on: Sql, realm: string, device: SigningDevice, id: string): Promise<store.ChallengeRow> {
    const row = await store.find(on, realm, id, { lock: true });
    if (row?.kind !== 'push' || row.user_id !== device.userId) throw notThere();
    if (row.status !== 'waiting' || row.expires_at <= now()) throw over();
    if (!sameSecret(row.challenge, String(device.claims.challenge ?? '')))
      throw new Problem('invalid-request', undefined, {
        errors: [{ path: 'challenge', message: 'is not the one that the device signed' }],
      });
    return row;
  }
  const tell = (
    tx: Tx,
    realm: string,
    by: By,
    device: SigningDevice,
    type: 'PUSH_APPROVED' | 'PUSH_DENIED',
    data: object,
  ) =>
    tx.record({
      type,
      realm,
      by,
      subject: userParty(device.userId, device.username),
      ...(type === 'PUSH_DENIED' && { outcome: 'denied' as const }),
      data: { device: device.id, ...data },
    });
  const countFailure = (realm: string, by: By, { userId: id, username }: SigningDevice) =>
    credentials.guess(realm, { id, username }, by, async () => ({ ok: false }));

  return {
    QR_SECONDS,

    /**
     * Sends a push to all devices of the user.
     * @returns undefined: too many pushes were sent lately, or the user reported one as not theirs
     */
    async push(realm: string, by: By, user: KnownUser, asking: Occasion) {
      const id = newId();
      const number = String(randomInt(10, 100));
      const at = now();
      return transact(realm, async (tx) => {
        const lately = await store.countUnansweredPushes(tx.sql, realm, user.id, new Date(at.getTime() - WINDOW_MS));
        const refused = lately.denied > 0 || lately.all >= MOST_UNANSWERED;
        const subject = userParty(user.id, user.username);
        const data = { application: asking.application ?? null };
        if (refused) {
          const reason = lately.denied > 0 ? 'reported' : 'too-many';
          tx.record({ type: 'PUSH_REQUESTED', realm, by, subject, outcome: 'denied', data: { ...data, reason } });
          return undefined;
        }
        tx.record({ type: 'PUSH_REQUESTED', realm, by, subject, data: { ...data, push: id } });
        await store.insert(tx.sql, realm, {
          id,
          userId: user.id,
          kind: 'push',
          status: 'waiting',
          challenge: newSecret(),
          number,
          ...asking,
          credentialId: null,
          at,
          expiresAt: later(at, PUSH_SECONDS),
        });
        const values = { client: asking.application ?? '' };
        const message = { realm, by, userId: user.id, templateKey: 'push-challenge', values } as const;
        await send(tx, { ...message, goodForSeconds: PUSH_SECONDS, data: { push: id, realm } });
        return { id, number };
      });
    },

    /** The present state of the challenge. */
    async outcome(realm: string, id: string): Promise<'waiting' | 'approved' | 'denied' | 'over'> {
      const row = await store.find(sql, realm, id);
      if (row?.status === 'denied' || (row?.status === 'approved' && row.expires_at > now())) return row.status;
      return row?.status === 'waiting' && row.expires_at > now() ? 'waiting' : 'over';
    },

    /** Uses up the approval for the sign-in that asked; undefined: there is none. */
    take: (realm: string, id: string, kind: 'push' | 'qr') => store.redeemChallenge(sql, realm, id, kind, now()),

    /** The address that the sign-in shows as a QR code. */
    qrAddress(realm: string, id: string, at: number, { application, ipAddress }: Occasion): string {
      const said = { id, until: at + QR_SECONDS * 1000, application: application?.slice(0, 60) ?? null, ip: ipAddress };
      const code = seal.seal(JSON.stringify(said), qrContext(realm)).toString('base64url');
      return `${baseUrl}/realms/${realm}/qr/${id}?code=${code}`;
    },

    async list(realm: string, device: SigningDevice): Promise<Approval[]> {
      return (await store.waitingOf(sql, realm, device.userId, now())).map(toWire);
    },
    async get(realm: string, device: SigningDevice, id: string): Promise<Approval> {
      const row = await store.find(sql, realm, id);
      if (row?.kind !== 'push' || row.user_id !== device.userId || row.status !== 'waiting' || row.expires_at <= now())
        throw notThere();
      return toWire(row);
    },

    async approve(realm: string, by: By, device: SigningDevice, id: string): Promise<void> {
      const right = await transact(realm, async (tx) => {
        const row = await waiting(tx.sql, realm, device, id);
        const { application } = row;
        const matches = sameSecret(row.number ?? '', String(device.claims.number ?? ''));
        await store.answerChallenge(tx.sql, realm, id, matches ? 'approved' : 'denied', device.id);
        if (matches) {
          deviceKeys.used(tx, realm, device.id);
          tell(tx, realm, by, device, 'PUSH_APPROVED', { push: id, application });
        } else tell(tx, realm, by, device, 'PUSH_DENIED', { push: id, application, reason: 'number' });
        return matches;
      });
      if (right) return;
      await countFailure(realm, by, device);
      const errors = [{ path: 'number', message: 'is not the number on the sign-in page; that sign-in has ended' }];
      throw new Problem('invalid-request', undefined, { errors });
    },

    async deny(realm: string, by: By, device: SigningDevice, id: string): Promise<void> {
      await transact(realm, async (tx) => {
        const { application, ip_address: from } = await waiting(tx.sql, realm, device, id);
        await store.answerChallenge(tx.sql, realm, id, 'denied', device.id);
        tell(tx, realm, by, device, 'PUSH_DENIED', { push: id, application, reason: 'reported', from });
        await notify(tx, { realm, by, userId: device.userId, what: 'push-denied' });
      });
      await countFailure(realm, by, device);
    },

    async qr(realm: string, device: SigningDevice, id: string, code: string): Promise<Approval> {
      const { until, application, ip } = inQr(realm, id, code);
      if (await store.find(sql, realm, id)) throw notThere();
      return {
        id,
        challenge: qrChallenge(id, code),
        username: device.username,
        application,
        ipAddress: ip,
        userAgent: null,
        createdAt: until - QR_SECONDS * 1000,
        expiresAt: until,
      };
    },

    async confirm(realm: string, by: By, device: SigningDevice, id: string, code: string): Promise<void> {
      const { until, application, ip: ipAddress } = inQr(realm, id, code);
      const challenge = qrChallenge(id, code);
      if (!sameSecret(challenge, String(device.claims.challenge ?? '')))
        throw new Problem('invalid-request', undefined, {
          errors: [{ path: 'challenge', message: 'is not the one that the device signed' }],
        });
      await transact(realm, async (tx) => {
        const first = await store.insert(tx.sql, realm, {
          id,
          userId: device.userId,
          kind: 'qr',
          status: 'approved',
          challenge,
          number: null,
          ipAddress,
          application: application ?? undefined,
          userAgent: undefined,
          credentialId: device.id,
          at: now(),
          expiresAt: new Date(until),
        });
        if (!first) throw over();
        deviceKeys.used(tx, realm, device.id);
        const subject = userParty(device.userId, device.username);
        tx.record({ type: 'QR_CONFIRMED', realm, by, subject, data: { device: device.id, qr: id, application } });
      });
    },
  };
}
export type Challenges = ReturnType<typeof createChallenges>;

const toWire = (row: store.ChallengeRow): Approval => ({
  id: row.id,
  challenge: row.challenge,
  username: row.username,
  application: row.application,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at.getTime(),
});
