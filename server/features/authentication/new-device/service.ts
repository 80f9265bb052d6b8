// Owns: mails about a sign-in on a new device, and what follows when the user reports that sign-in.
// Does not own: the list of known devices (features/authentication/risk), the new password (features/authentication/recovery), messages (features/configuration/messaging).
// Implements: specification 2.6 (new-device-email).
import { DAY_MS, DAY_SECONDS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { Distrust } from '../../../domain/distrust.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { reportLinkTo } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import { deviceName } from '../../../http/device-name.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { Recovery } from '../recovery/service.ts';
import * as store from './store.ts';

const LINK_DAYS = 7;

export interface NewDevicesDeps {
  sql: Sql;
  transact: Transact;
  recovery: Pick<Recovery, 'lead'>;
  /** Each feature undoes what the other person may have set up or changed. */
  distrust: readonly Distrust[];
  send: Send;
  /** Whether the realm has a provider that sends e-mail. */
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  now: () => Date;
}

export interface NewDevice {
  by: By;
  userId: string;
  sessionId: string;
  /** When the sign-in began. */
  begunAt: Date;
  userAgent: string | undefined;
  /** The origin of the pages, as the browser sees it. */
  origin: string;
}

const digestOf = (secret: string): Buffer => sha256(`sign-in-report:${secret}`);

export function createNewDevices({ sql, transact, recovery, distrust, send, sends, now }: NewDevicesDeps) {
  return {
    /** Whether the realm sends mails about sign-ins on new devices. */
    tells: async (realm: string, policy: Pick<RealmSettingsDto, 'newDeviceNoticeEnabled'>): Promise<boolean> =>
      policy.newDeviceNoticeEnabled && (await sends(realm, 'EMAIL')),

    /** Sends the mail, in the transaction of the sign-in. A user without a confirmed address gets none. */
    async tell(tx: Tx, realm: string, { by, userId, sessionId, begunAt, userAgent, origin }: NewDevice): Promise<void> {
      const to = await store.addressOf(tx.sql, realm, userId);
      if (to === undefined) return;
      const secret = newSecret();
      const at = now();
      const expiresAt = new Date(at.getTime() + LINK_DAYS * DAY_MS);
      await store.insert(tx.sql, realm, {
        id: digestOf(secret),
        userId,
        sessionId,
        email: to,
        begunAt,
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
          time: at,
        },
        goodForSeconds: DAY_SECONDS,
      });
    },

    /** The sign-in that the link is about; undefined: the link is unknown or no longer valid. Looking doesn't use it up. */
    look: (realm: string, secret: string): Promise<store.Found | undefined> =>
      store.find(sql, realm, digestOf(secret), { now: now() }),

    /**
     * The user reports the sign-in: all sessions end, the password is blocked, credentials set up since then are deleted,
     * and the device is forgotten. The user sets a new password through a mailed link, or an administrator does.
     * @returns undefined: the link is no longer valid; `reset`: the token for setting a new password at once
     */
    report: (
      realm: string,
      secret: string,
      ipAddress: string,
    ): Promise<{ reset?: string; hasPassword: boolean } | undefined> =>
      transact(realm, async (tx) => {
        const id = digestOf(secret);
        const found = await store.find(tx.sql, realm, id, { now: now(), lock: true });
        if (!found) return undefined;
        const person = userParty(found.id, found.username);
        const by: By = { actor: person, ipAddress };
        const first = await store.removeAll(tx.sql, realm, found.id, id, { now: now() });
        if (!first) return undefined;
        const { sessionId } = found;
        tx.record({ type: 'SIGN_IN_REPORTED', realm, by, subject: person, data: { sessionId } });
        for (const takeBack of distrust) await takeBack(tx, by, realm, found, first);
        await endAccess(tx, realm, { people: [found.id], cause: 'reported', by, at: now() });
        const reset = found.theirAddress ? await recovery.lead(tx, realm, found.id) : undefined;
        return { hasPassword: found.hasPassword, ...(reset !== undefined && { reset }) };
      }),
  };
}
export type NewDevices = ReturnType<typeof createNewDevices>;
