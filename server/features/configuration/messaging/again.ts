// Sends a message that was given up again, at an administrator's request. Decisions "Messaging".
import type { By } from '../../../contract/events.ts';
import type { Channel } from '../../../contract/message-drivers.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { namedUser } from '../../../domain/party.ts';
import * as store from './store.ts';

export interface AgainDeps {
  sql: Sql;
  transact: Transact;
  enqueue(
    sql: Sql,
    messages: readonly { realm: string; id: string; channel: Channel; attempt: number; done: number }[],
  ): Promise<void>;
  now: () => Date;
}

/** The message keeps its id, its recipient and its text. An expired one is refused, as are its code and link. */
export const createAgain =
  ({ sql, transact, enqueue, now }: AgainDeps) =>
  async (by: By, realm: string, id: string): Promise<store.MessageRow> => {
    const found = await store.messageOf(sql, realm, id);
    if (!found) throw new Problem('not-found', 'There is no such message');
    return transact(realm, async (tx) => {
      const row = await store.reopen(tx.sql, realm, id, now());
      if (!row) throw new Problem('wrong-state', refusalOf(found, now()));
      const { channel, attempts: done, user_id: userId } = row;
      await enqueue(tx.sql, [{ realm, id, channel, attempt: done + 1, done }]);
      const subject = await namedUser(tx.sql, realm, userId);
      const data = { message: id, channel, templateKey: row.template_key };
      tx.record({ type: 'MESSAGE_RETRIED', realm, by, subject, data });
      return row;
    });
  };

function refusalOf({ status, expires_at: expiresAt }: store.MessageRow, now: Date): string {
  if (status === 'sent') return 'The message was sent';
  if (status !== 'dead') return 'The server still tries to send the message by itself';
  return expiresAt <= now
    ? 'The message has expired, and with it its code or link: the user requests a new one'
    : 'The content of the message is deleted: the user requests a new one';
}
