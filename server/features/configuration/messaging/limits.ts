// Limits messages per hour: to one recipient, by one user to numbers of the user's choice, from one network address, in
// a realm. SMS cost money, and an inbox must not be flooded. The counts are in the database, so all replicas share
// them. A recipient's count is locked until the transaction ends. A transaction with several recipients locks them in
// the order of their addresses, so that no two transactions deadlock.
import { HOUR_MS } from '../../../contract/durations.ts';
import type { Channel } from '../../../contract/message-drivers.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import { network } from '../../../http/network.ts';
import * as store from './store.ts';

type Limits = Pick<
  RealmSettingsDto,
  'maxMessagesPerRecipientPerHour' | 'maxMessagesPerAddressPerHour' | 'maxSmsPerHour' | 'maxEmailsPerHour'
>;
export interface Counted {
  channel: Channel;
  recipient: string;
  /** The account that requests a message to an address of its choice; null: no account, or the account's own address. */
  requester: string | null;
  /** null: a known user requests the message, so the network address doesn't count. */
  ipAddress: string | null;
  /** The message has no recipient: its own counts are raised, but not the realm's. */
  forNobody: boolean;
  /**
   * A notice of a change. It has a count of its own and doesn't use the realm's, so that other messages can't suppress
   * it.
   */
  notice: boolean;
}

export const createLimits = ({ seal, now, newId }: { seal: Seal; now: () => Date; newId: () => string }) => ({
  /** Counts one message. @returns the exceeded limit; undefined: none */
  async take(
    sql: Sql,
    realm: string,
    limits: Limits,
    { channel, recipient, requester, ipAddress, forNobody, notice }: Counted,
  ): Promise<'recipient' | 'person' | 'address' | 'realm' | undefined> {
    const digest = (text: string) => seal.digest(text, `message-limit:${realm}`).toString('base64url');
    const { maxMessagesPerRecipientPerHour: toOne, maxMessagesPerAddressPerHour: fromOne } = limits;
    const to = `${notice ? 'notice' : 'to'} ${channel} ${digest(recipient.toLowerCase())}`;
    const bounds: (store.Bound & { of: 'recipient' | 'person' | 'address' })[] = [
      { of: 'recipient', key: to, most: toOne },
    ];
    if (requester !== null) bounds.push({ of: 'person', key: `by ${channel} ${digest(requester)}`, most: toOne });
    if (ipAddress !== null && !notice)
      bounds.push({ of: 'address', key: `from ${digest(network(ipAddress))}`, most: fromOne });
    const hour = new Date(Math.floor(now().getTime() / HOUR_MS) * HOUR_MS);
    const pool = forNobody ? 'NOBODY' : channel;
    const { used, ofRealm } = await store.count(sql, realm, bounds, { hour, pool, counts: !notice, newId });
    const beyond = bounds.find(({ key, most }) => (used.get(key) ?? 0) > most);
    if (beyond) return beyond.of;
    const most = { SMS: limits.maxSmsPerHour, EMAIL: limits.maxEmailsPerHour, PUSH: Number.POSITIVE_INFINITY }[channel];
    return most === 0 || (!notice && !forNobody && ofRealm > most) ? 'realm' : undefined;
  },
});
export type Limiter = ReturnType<typeof createLimits>;
