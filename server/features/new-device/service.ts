// Owns: telling people by mail of a sign-in on a device that is new to them, and what follows when it wasn't them.
// Does not own: which devices are known (features/risk), the new password (features/recovery), messages (features/messaging).
// Implements: specification 2.6 (new-device-email).
import type { By } from '../../contract/events.ts';
import { newSecret, sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { endAccess } from '../../domain/end-access.ts';
import { reportLinkTo } from '../../domain/links.ts';
import { userParty } from '../../domain/party.ts';
import { requireAction } from '../../domain/required-actions.ts';
import { deviceName } from '../../http/device-name.ts';
import type { Send } from '../messaging/send.ts';
import type { Recovery } from '../recovery/service.ts';
import type { Browsers } from '../risk/browsers.ts';
import * as store from './store.ts';

const LINK_DAYS = 7;
const DAY_SECONDS = 86_400;

export interface NewDevicesDeps {
  sql: Sql;
  transact: Transact;
  recovery: Pick<Recovery, 'lead'>;
  browsers: Pick<Browsers, 'forgetIn'>;
  send: Send;
  now: () => Date;
}

export interface NewDevice {
  by: By;
  userId: string;
  sessionId: string;
  /** The device's cookie, where it is known from now on. */
  device: string | undefined;
  userAgent: string | undefined;
  /** Of the pages, as the browser sees them. */
  origin: string;
}

const digestOf = (secret: string): Buffer => sha256(`sign-in-report:${secret}`);

export function createNewDevices({ sql, transact, recovery, browsers, send, now }: NewDevicesDeps) {
  return {
    /** In the transaction of the sign-in. Who has no confirmed address hears nothing. */
    async tell(tx: Tx, realm: string, { by, userId, sessionId, device, userAgent, origin }: NewDevice): Promise<void> {
      const to = await store.addressOf(tx.sql, realm, userId);
      if (to === undefined) return;
      const secret = newSecret();
      const expiresAt = new Date(now().getTime() + LINK_DAYS * DAY_SECONDS * 1000);
      await store.insert(tx.sql, realm, {
        id: digestOf(secret),
        userId,
        sessionId,
        email: to,
        deviceHash: device === undefined ? null : sha256(device),
        expiresAt,
      });
      await send(tx, {
        realm,
        by,
        userId,
        to,
        templateKey: 'new-device-email',
        values: {
          link: reportLinkTo(origin, realm, secret),
          device: deviceName(userAgent),
          place: by.ipAddress ?? '',
          time: `${now().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
        },
        goodForSeconds: DAY_SECONDS,
      });
    },

    /** Whose sign-in the link is about; undefined: nobody's (any more). Looking uses nothing up. */
    look: (realm: string, secret: string): Promise<store.Found | undefined> =>
      store.find(sql, realm, digestOf(secret), { now: now() }),

    /**
     * It wasn't them: everybody is signed out, the device is a stranger's again, and whoever signs in by password next chooses another.
     * @returns undefined: the link is good no more; `reset`: what leads to a new password at once
     */
    report: (realm: string, secret: string, ipAddress: string): Promise<{ reset?: string } | undefined> =>
      transact(realm, async (tx) => {
        const id = digestOf(secret);
        const found = await store.find(tx.sql, realm, id, { now: now(), lock: true });
        if (!found) return undefined;
        const person = userParty(found.id, found.username);
        const by: By = { actor: person, ipAddress };
        await store.remove(tx.sql, realm, id);
        if (found.deviceHash) await browsers.forgetIn(tx.sql, realm, found.id, found.deviceHash);
        if (found.hasPassword) await requireAction(tx.sql, realm, found.id, 'UPDATE_PASSWORD');
        const { sessionId } = found;
        tx.record({ type: 'SIGN_IN_REPORTED', realm, by, subject: person, data: { sessionId } });
        await endAccess(tx, realm, { people: [found.id], cause: 'reported', by, at: now() });
        const reset = found.theirAddress ? await recovery.lead(tx, realm, found.id) : undefined;
        return reset === undefined ? {} : { reset };
      }),
  };
}
export type NewDevices = ReturnType<typeof createNewDevices>;
