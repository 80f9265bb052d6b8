// Owns: recovery: giving master an administrator again, by an operator with the server's environment and database.
// Does not own: the program that runs it (server/recover/main.ts), the first administrator (service.ts).
// Implements: decisions "The last administrator" (recovery).
import { randomBytes } from 'node:crypto';
import type { By } from '../../../contract/events.ts';

import { MASTER } from '../../../contract/realms.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { resetFlow } from '../../configuration/flows/seed.ts';
import type { AuthenticatorEntry } from '../../configuration/flows/tree.ts';
import { bindFlow } from '../../configuration/settings/store.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { enable, insertNamed } from '../../people/users/store.ts';
import type { Access } from '../admin-access/service.ts';
import { ADMINISTRATES } from './service.ts';
import * as store from './store.ts';

export interface RecoveryDeps {
  transact: Transact;
  access: Pick<Access, 'grant'>;
  passwords: Pick<Passwords, 'hash'>;
  credentials: Pick<Credentials, 'setPassword' | 'list' | 'remove'>;
  /** The alias of the directory that verifies a user's password; undefined: this server verifies it. */
  keeperOf(realm: string, userId: string): Promise<string | undefined>;
  /** @throws if the master key is not the server's */
  readKeys(): Promise<unknown>;
  registry: readonly AuthenticatorEntry[];
  now: () => Date;
  newId: () => string;
}

export interface Recovered {
  username: string;
  /** A temporary password, printed once. The server stores only its hash. */
  password: string;
  /** False: the user existed, and has lost every credential. */
  isNew: boolean;
}

const by: By = { actor: { type: 'system', id: null, name: 'recover-admin' }, ipAddress: null };

export function createRecovery({
  transact,
  access,
  passwords,
  credentials,
  keeperOf,
  readKeys,
  registry,
  now,
  newId,
}: RecoveryDeps) {
  /** Removes every credential: the user may have lost a second factor, or another person may have set one up. */
  async function reset(tx: Tx, { id, username }: store.UserRow): Promise<void> {
    const keeper = await keeperOf(MASTER, id);
    if (keeper !== undefined)
      throw new Error(`The password of ${username} is kept by the directory ${keeper}: name another user`);
    const fields = await enable(tx.sql, MASTER, id);
    if (fields.length > 0)
      tx.record({ type: 'USER_UPDATED', realm: MASTER, by, subject: userParty(id, username), data: { fields } });
    for (const { type, id: credentialId } of await credentials.list(MASTER, id, tx.sql))
      await credentials.remove(tx, by, MASTER, { id, username }, { type, id: credentialId });
  }

  /** The present flow may demand a factor that no user has. */
  async function useBuiltInFlow(tx: Tx): Promise<void> {
    const alias = await resetFlow(tx.sql, MASTER, { registry, newId });
    tx.record({
      type: 'FLOW_UPDATED',
      realm: MASTER,
      by,
      subject: { type: 'object', id: alias, name: alias },
      data: { alias, reset: true },
    });
    if (await bindFlow(tx.sql, MASTER, alias))
      tx.record({
        type: 'SETTINGS_UPDATED',
        realm: MASTER,
        by,
        subject: { type: 'realm', id: MASTER, name: MASTER },
        data: { fields: ['browserFlow'] },
      });
  }

  /**
   * Creates the user, or resets an existing one.
   * @param resetsFlow whether users of master sign in by the built-in flow from now on
   * @throws Error whose message says what to do next
   */
  return async (wanted: string, { resetsFlow }: { resetsFlow: boolean }): Promise<Recovered> => {
    const password = randomBytes(18).toString('base64url');
    const phc = await passwords.hash(password);
    return transact(MASTER, async (tx) => {
      await store.takeTurn(tx.sql);
      if (!(await store.realmExists(tx.sql, MASTER)))
        throw new Error('There is no realm master: start the server first, which makes it with its administrator');
      await readKeys();
      const found = await store.userNamed(tx.sql, MASTER, wanted);
      const { id, username } = found ?? { id: newId(), username: wanted };
      if (found) await reset(tx, found);
      else {
        if (!(await insertNamed(tx.sql, MASTER, { id, username, at: now() })))
          throw new Error(`The name ${username} is another user's address: name another user`);
        tx.record({ type: 'USER_CREATED', realm: MASTER, by, subject: userParty(id, username) });
      }
      await credentials.setPassword(tx, by, MASTER, { id, username }, { phc, temporary: true });
      await access.grant(tx, by, MASTER, { ...ADMINISTRATES, holder: { userId: id } });
      if (resetsFlow) await useBuiltInFlow(tx);
      await store.markBootstrapped(tx.sql, MASTER, now());
      return { username, password, isNew: !found };
    });
  };
}
export type Recovery = ReturnType<typeof createRecovery>;
