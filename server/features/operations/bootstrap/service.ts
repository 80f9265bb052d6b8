// Owns: a server's own objects at start: the realm master, its first administrator, the clients of realmctl and operator.
// Does not own: realms, roles or credentials themselves; it calls their features. Running it again changes nothing.
// Implements: decisions "Realms", "The last administrator", "Admin authentication" (first start, the operator's first sign-in).

import { randomBytes } from 'node:crypto';
import { ADMIN_CLI } from '../../../contract/admin-access.ts';
import { type By, bySystem } from '../../../contract/events.ts';
import { inEnglish } from '../../../contract/phrases.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { hasAdministrator } from '../../../domain/administrators.ts';
import { userParty } from '../../../domain/party.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import { changeOf, deletionOf } from '../../../resource/change.ts';
import { strings } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import { comparedSecrets } from '../../../resource/secrets.ts';
import { writeChanges } from '../../../resource/write.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { insertNamed } from '../../people/users/store.ts';
import type { Access } from '../admin-access/service.ts';
import * as store from './store.ts';
import { type BootstrapOptions, isCliClientSettled, OPERATOR, OPERATOR_SHAPE } from './wanted.ts';

/** All permissions in every realm. */
export const ADMINISTRATES = { role: 'realm-admin', target: '*' } as const;

const NO_SCOPES = { defaultClientScopes: [], optionalClientScopes: [] };
const CLI_CLIENT: Fields = {
  ...NO_SCOPES,
  name: 'realmctl, the command line',
  description: 'Lets administrators sign in from a terminal; disable it to forbid that',
  tokenEndpointAuthMethod: 'none',
  redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
  consentRequired: true,
};
const OPERATOR_CLIENT: Fields = {
  ...NO_SCOPES,
  name: 'Kubernetes operator',
  description: 'Made at start from SVC_OPERATOR_*',
};

/** A start may only mark objects that a replica of an older release created. */
const BOOKKEEPING = { bookkeeping: true };
const NO_ADMINISTRATOR = `No user of ${MASTER} holds realm-admin over every realm and can sign in. No start makes another administrator: npm run recover-admin does (docs/administrators.md)`;

type Operator = BootstrapOptions['operator'];

export interface Bootstrapped {
  /** `password` only if this start generated it: it is shown once. */
  administrator: { username: string; password: string | undefined };
  /** Whether this start created the first administrator. */
  first: boolean;
  /** Messages for an administrator: settings that were left as they are because an existing object prevented the change. */
  warnings: string[];
}

export function createBootstrap({
  sql,
  transact,
  seedInto,
  refresh,
  access,
  clients,
  identities,
  passwords,
  newPasswordFaults,
  setPassword,
  baseUrl,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  seedInto(tx: Tx, by: By, realm: string, displayName: string): Promise<unknown>;
  /** Functions that add to realms of older releases what new realms have. */
  refresh: readonly ((sql: Sql, realms: readonly string[]) => Promise<void>)[];
  access: Pick<Access, 'grant'>;
  clients: Resource;
  identities: Resource;
  passwords: Pick<Passwords, 'hash'>;
  newPasswordFaults: Credentials['newPasswordFaults'];
  /** Stores a password's hash for a user without one. */
  setPassword: Credentials['setPassword'];
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}) {
  const by = bySystem;

  /**
   * @throws Problem if the realm refuses the password: the first administrator's password follows the same rules as any
   * other
   */
  async function hashed(username: string, password: string): Promise<string> {
    const faults = await newPasswordFaults(MASTER, password, { username, email: null });
    if (faults.length > 0) throw new Error(`SVC_BOOTSTRAP_ADMIN_PASSWORD ${faults.map(inEnglish).join(', and ')}`);
    return passwords.hash(password);
  }

  async function makeAdministrator(
    tx: Tx,
    { username, phc, temporary }: { username: string; phc: string; temporary: boolean },
  ): Promise<boolean> {
    const id = newId();
    if (!(await insertNamed(tx.sql, MASTER, { id, username, at: now() }))) return false;
    await setPassword(tx, by, MASTER, { id, username }, { phc, temporary, newAccount: true });
    tx.record({ type: 'USER_CREATED', realm: MASTER, by, subject: userParty(id, username) });
    await access.grant(tx, by, MASTER, { ...ADMINISTRATES, holder: { userId: id } });
    await store.markBootstrapped(tx.sql, MASTER, now());
    return true;
  }

  /** Creates or updates the object, and returns its id. */
  async function put(
    tx: Tx,
    of: Resource,
    key: string,
    { always, atFirst = {} }: { always: Fields; atFirst?: Fields },
  ): Promise<string> {
    const row = await of.table.find(tx.sql, MASTER, { key });
    const there = row && { id: row.id, fields: await comparedSecrets(of, always, row.fields) };
    const wanted = row ? always : { ...atFirst, ...always };
    const id = row?.id ?? newId();
    const change = changeOf(of, MASTER, { key, there, wanted });
    if (change)
      await writeChanges(tx, {
        realm: MASTER,
        by,
        written: 'byServer',
        parts: [of],
        changes: [{ ...change, id }],
        newId,
      });
    return id;
  }

  async function removeIdentities(tx: Tx, keys: readonly string[]): Promise<void> {
    const rows = await Promise.all(keys.map((key) => identities.table.find(tx.sql, MASTER, { key })));
    const changes = rows.flatMap((row) => (row ? [deletionOf(identities, row)] : []));
    if (changes.length > 0)
      await writeChanges(tx, { realm: MASTER, by, written: 'byServer', parts: [identities], changes, newId });
  }

  /**
   * Creates the client of realmctl. An administrator may change or disable it, and these changes stay. If the server's
   * address has changed, the admin API's new name replaces the old one.
   */
  async function makeCliClient(tx: Tx): Promise<void> {
    const row = await clients.table.find(tx.sql, MASTER, { key: ADMIN_CLI });
    if (row && isCliClientSettled(strings(row.fields.allowedResources), adminAudience(baseUrl))) return;
    await put(tx, clients, ADMIN_CLI, { always: { allowedResources: [adminAudience(baseUrl)] }, atFirst: CLI_CLIENT });
  }

  async function makeOperator(tx: Tx, { secret, identity }: Operator): Promise<void> {
    const id = await put(tx, clients, OPERATOR, {
      always: { ...OPERATOR_SHAPE, secret: secret ?? null },
      atFirst: OPERATOR_CLIENT,
    });
    if (!(await store.isGranted(tx.sql, MASTER, OPERATOR))) {
      // The operator takes the client over. Remove identities that an earlier administrator trusted: they could act as
      // the client.
      await removeIdentities(tx, await store.identitiesOf(tx.sql, MASTER, OPERATOR));
      await access.grant(tx, by, MASTER, { ...ADMINISTRATES, holder: { clientUuid: id } });
    }
    if (!identity) return;
    await removeIdentities(tx, await store.sameIdentity(tx.sql, MASTER, { ...identity, name: OPERATOR }));
    await put(tx, identities, OPERATOR, { always: { ...identity, clientId: OPERATOR, jwksUri: null, enabled: true } });
  }

  return {
    /** Safe to run at every start and by many replicas at once. */
    async run({ administrator, operator }: BootstrapOptions): Promise<Bootstrapped> {
      const { username } = administrator;
      const generated = administrator.password === undefined ? randomBytes(18).toString('base64url') : undefined;
      // Hashed before the transaction, so that no connection waits for it. Most starts don't need it.
      const phc = (await store.isBootstrapped(sql, MASTER))
        ? undefined
        : await hashed(username, administrator.password ?? generated ?? '');
      const warnings: string[] = [];
      const made = await transact(
        MASTER,
        async (tx) => {
          warnings.length = 0;
          await store.takeTurn(tx.sql);
          if (!(await store.realmExists(tx.sql, MASTER))) await seedInto(tx, by, MASTER, 'Master');
          await makeCliClient(tx);
          if (operator.secret !== undefined || operator.identity) await makeOperator(tx, operator);
          if (phc === undefined || (await store.isBootstrapped(tx.sql, MASTER))) return false;
          if (await store.hasGrant(tx.sql, MASTER)) {
            await store.markBootstrapped(tx.sql, MASTER, now());
            return false;
          }
          const temporary = generated !== undefined && administrator.generatedIsTemporary;
          if (await makeAdministrator(tx, { username, phc, temporary })) return true;
          warnings.push(
            `No user administers ${MASTER}, and its user ${username} was not made an administrator because the account exists already: name another by SVC_BOOTSTRAP_ADMIN_USERNAME`,
          );
          return false;
        },
        BOOKKEEPING,
      );
      if (!made && warnings.length === 0 && !(await hasAdministrator(sql))) warnings.push(NO_ADMINISTRATOR);
      const realms = await store.allRealms(sql);
      await Promise.all(refresh.map((one) => one(sql, realms)));
      return { administrator: { username, password: made ? generated : undefined }, first: made, warnings };
    },
  };
}
