// How many messages there may be in an hour: to one recipient, caused from one network address, of a realm. SMS cost money, and
// somebody's inbox is no weapon. Counted in the database, so for all replicas together.
import type { Channel } from '../../contract/message-drivers.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Seal } from '../../crypto/seal.ts';
import type { Sql } from '../../db/sql.ts';
import { network } from '../../http/network.ts';
import * as store from './store.ts';

const HOUR_MS = 3_600_000;
/** The realm's own count is spread over rows, so that messages of many people don't wait for each other. */
const SHARDS = 8;

type Limits = Pick<
  RealmSettingsDto,
  'maxMessagesPerRecipientPerHour' | 'maxMessagesPerAddressPerHour' | 'maxSmsPerHour' | 'maxEmailsPerHour'
>;
export interface Counted {
  channel: Channel;
  recipient: string;
  ipAddress: string | null;
  /** Tells of what was done: nobody keeps it away by having others sent, so it has a count of its own and none of the realm's. */
  notice: boolean;
}

export const createLimits = ({
  seal,
  now,
  random = Math.random,
}: {
  seal: Seal;
  now: () => Date;
  random?: () => number;
}) => ({
  /** Takes one message's place; the limit that it is beyond, if it is. */
  async take(
    sql: Sql,
    realm: string,
    limits: Limits,
    { channel, recipient, ipAddress, notice }: Counted,
  ): Promise<'recipient' | 'address' | 'realm' | undefined> {
    const digest = (text: string) => seal.digest(text, `message-limit:${realm}`).toString('base64url');
    const recipientKey = `${notice ? 'notice' : 'to'} ${channel} ${digest(recipient.toLowerCase())}`;
    const bounds = [{ key: recipientKey, most: limits.maxMessagesPerRecipientPerHour }];
    const addressKey = ipAddress === null || notice ? undefined : `from ${digest(network(ipAddress))}`;
    if (addressKey !== undefined) bounds.push({ key: addressKey, most: limits.maxMessagesPerAddressPerHour });
    const shards = notice ? [] : Array.from({ length: SHARDS }, (_, i) => `realm ${channel} ${i}`);
    const shard = shards[Math.floor(random() * SHARDS)];
    const hour = new Date(Math.floor(now().getTime() / HOUR_MS) * HOUR_MS);
    const used = await store.count(sql, realm, bounds, { hour, shard, shards });
    const beyond = bounds.find(({ key, most }) => (used.get(key) ?? 0) > most);
    if (beyond) return beyond.key === recipientKey ? 'recipient' : 'address';
    const ofRealm = shards.reduce((sum, key) => sum + (used.get(key) ?? 0), 0);
    const most = { SMS: limits.maxSmsPerHour, EMAIL: limits.maxEmailsPerHour, PUSH: Number.POSITIVE_INFINITY }[channel];
    return most === 0 || ofRealm > most ? 'realm' : undefined;
  },
});
export type Limiter = ReturnType<typeof createLimits>;
