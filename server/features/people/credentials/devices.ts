// The keys of the devices with which users approve sign-ins: rows of `credential` with the type `device`.
// features/people/devices decides what a key signs.

import type { DeviceKey } from '../../../contract/devices.ts';
import type { By } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { fulfilAction } from '../../../domain/required-actions.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { KnownUser } from './service.ts';

const DEVICE = 'device';

export interface EnrolledDevice {
  id: string;
  userId: string;
  username: string;
  label: string | null;
  publicKey: DeviceKey;
}
interface Row {
  id: string;
  user_id: string;
  username: string;
  label: string | null;
  secret: { publicKey: DeviceKey };
}

/** Only the device of an enabled user. */
async function find(sql: Sql, realm: string, id: string): Promise<EnrolledDevice | undefined> {
  const [row] = await sql<Row>`
    select c.id, c.user_id, u.username, c.label, c.secret
    from credential c join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
    where c.realm_id = ${realm} and c.id = ${id} and c.type = ${DEVICE} and u.enabled`;
  return (
    row && {
      id: row.id,
      userId: row.user_id,
      username: row.username,
      label: row.label,
      publicKey: row.secret.publicKey,
    }
  );
}

export function createDeviceKeys({ notify, now }: { notify: Notify; now: () => Date }) {
  return {
    find,

    async insert(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      { id, label, publicKey }: { id: string; label: string; publicKey: DeviceKey },
    ): Promise<void> {
      await tx.sql`
        insert into credential (realm_id, id, user_id, type, label, secret, created_at)
        values (${realm}, ${id}, ${user.id}, ${DEVICE}, ${label}, ${JSON.stringify({ publicKey })}::jsonb, ${now()})`;
      await fulfilAction(tx.sql, realm, [user.id], 'CONFIGURE_DEVICE');
      const subject = userParty(user.id, user.username);
      tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject, data: { credentialId: id, type: DEVICE } });
      await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
    },

    used: (tx: Tx, realm: string, id: string): void =>
      tx.atLast`update credential set last_used_at = ${now()} where realm_id = ${realm} and id = ${id} and type = ${DEVICE}`,
  };
}
export type DeviceKeys = ReturnType<typeof createDeviceKeys>;
