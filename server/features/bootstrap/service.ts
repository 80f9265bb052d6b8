// Owns: what a server makes of itself at start: the realm master, its first administrator, the clients of realmctl and operator.
// Does not own: realms, roles or credentials themselves; it calls their features. Running it again changes nothing.
// Implements: decisions "Realms", "Admin authentication" (first start, the operator's first sign-in).
import { randomBytes } from 'node:crypto';
import { ADMIN_CLI } from '../../contract/admin-access.ts';
import { type By, bySystem } from '../../contract/events.ts';
import { MASTER } from '../../contract/realms.ts';
import { hashClientSecret, sameClientSecret } from '../../crypto/client-secret.ts';
import type { Passwords } from '../../crypto/passwords.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import type { Access } from '../admin-access/service.ts';
import type { Credentials } from '../credentials/service.ts';
import * as store from './store.ts';

/** The client of `master` that the operator signs in as. */
const OPERATOR = 'operator';
const ADMIN_ROLE = 'realm-admin';
const EVERY_REALM = '*';

export interface BootstrapOptions {
  administrator: { username: string; password: string | undefined };
  operator: { secret: string | undefined; identity: store.Identity | undefined };
}

export interface Bootstrapped {
  /** `password` only where this start generated it: it is shown once. */
  administrator: { username: string; password: string | undefined };
  /** What a person should know: nothing was changed where something stood in the way. */
  warnings: string[];
}

export function createBootstrap({
  sql,
  transact,
  seedInto,
  refreshAdminRoles,
  access,
  passwords,
  setPassword,
  adminAudience,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  seedInto(tx: Tx, by: By, realm: string, displayName: string): Promise<unknown>;
  refreshAdminRoles(sql: Sql, realms: readonly string[]): Promise<void>;
  access: Pick<Access, 'grant'>;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  /** Stores a password's hash for a user who has none yet. */
  setPassword: Credentials['setPassword'];
  adminAudience: string;
  now: () => Date;
  newId: () => string;
}) {
  const by = bySystem;

  async function makeAdministrator(tx: Tx, username: string, phc: string): Promise<boolean> {
    const id = newId();
    if (!(await store.insertUser(tx.sql, MASTER, { id, username, at: now() }))) return false;
    await setPassword(tx, by, MASTER, { id, username }, { phc, temporary: false });
    tx.record({ type: 'USER_CREATED', realm: MASTER, by, subject: { type: 'user', id, name: username } });
    await access.grant(tx, by, MASTER, { role: ADMIN_ROLE, target: EVERY_REALM, holder: { userId: id } });
    return true;
  }

  /** An administrator may change or disable it; what they did to it stays. */
  async function makeCliClient({ sql: on, record }: Tx): Promise<void> {
    const id = newId();
    const made = await store.putCliClient(on, MASTER, { id, clientId: ADMIN_CLI, adminAudience, at: now() });
    if (made === undefined) return;
    const subject = { type: 'client', id: made.id, name: ADMIN_CLI } as const;
    const type = made.id === id ? 'CLIENT_CREATED' : 'CLIENT_UPDATED';
    record({ type, realm: MASTER, by, subject, clientId: ADMIN_CLI });
  }

  async function makeOperator(tx: Tx, { secret, identity }: BootstrapOptions['operator']): Promise<void> {
    const { sql: on, record } = tx;
    const current = await store.findOperator(on, MASTER, OPERATOR);
    const stored = { hash: current?.secret_hash ?? null, slow: current?.secret_slow ?? null };
    const sameSecret =
      secret === undefined
        ? stored.hash === null && stored.slow === null
        : await sameClientSecret(stored, secret, passwords);
    const id = current?.id ?? newId();
    const subject = { type: 'client', id, name: OPERATOR } as const;
    if (!current?.as_made || !sameSecret) {
      const { hash, slow } =
        secret === undefined ? { hash: null, slow: null } : await hashClientSecret(secret, passwords);
      await store.putOperator(on, MASTER, { id, clientId: OPERATOR, secretHash: hash, secretSlow: slow, at: now() });
      record({ type: current ? 'CLIENT_UPDATED' : 'CLIENT_CREATED', realm: MASTER, by, subject, clientId: OPERATOR });
    }
    if (!current?.granted) {
      await store.deleteIdentitiesOf(on, MASTER, OPERATOR);
      await access.grant(tx, by, MASTER, { role: ADMIN_ROLE, target: EVERY_REALM, holder: { clientUuid: id } });
    }
    if (
      identity &&
      (await store.putIdentity(on, MASTER, { ...identity, id: newId(), name: OPERATOR, clientId: OPERATOR }))
    )
      record({
        type: 'WORKLOAD_IDENTITY_UPDATED',
        realm: MASTER,
        by,
        subject: { type: 'object', id: null, name: OPERATOR },
        data: { ...identity },
      });
  }

  return {
    /** Safe to run at every start and by many replicas at once. */
    async run({ administrator, operator }: BootstrapOptions): Promise<Bootstrapped> {
      const { username } = administrator;
      const generated = administrator.password === undefined ? randomBytes(18).toString('base64url') : undefined;
      // Hashed before the transaction, so that no connection waits for it; not needed at most starts.
      const phc = (await store.hasAdministrator(sql, MASTER))
        ? undefined
        : await passwords.hash(administrator.password ?? generated ?? '');
      const warnings: string[] = [];
      const made = await transact(MASTER, async (tx) => {
        warnings.length = 0;
        await store.takeTurn(tx.sql);
        if (!(await store.realmExists(tx.sql, MASTER))) await seedInto(tx, by, MASTER, 'Master');
        await makeCliClient(tx);
        if (operator.secret !== undefined || operator.identity) await makeOperator(tx, operator);
        if (phc === undefined || (await store.hasAdministrator(tx.sql, MASTER))) return false;
        if (await makeAdministrator(tx, username, phc)) return true;
        warnings.push(
          `Nobody administers ${MASTER}, and its user ${username} was not made one because the account exists already: name another by SVC_BOOTSTRAP_ADMIN_USERNAME`,
        );
        return false;
      });
      await refreshAdminRoles(sql, await store.allRealms(sql));
      return { administrator: { username, password: made ? generated : undefined }, warnings };
    },
  };
}
