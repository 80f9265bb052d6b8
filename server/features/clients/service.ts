// Owns: clients as administrators see them: what they may do, their secrets, their scopes.
// Does not own: what the token path reads (view.ts), client authentication, workload identities.
// Implements: decisions "Client", "Rights", "Secrets"; specification 4.10.
import type { Client, ClientInput } from '../../contract/clients.ts';
import type { By } from '../../contract/events.ts';
import type { Changes } from '../../contract/names.ts';
import { type FieldError, Problem, unknownName } from '../../contract/problem.ts';
import { hashClientSecret, newClientSecret, sameClientSecret } from '../../crypto/client-secret.ts';
import type { Passwords } from '../../crypto/passwords.ts';
import { renameOwned, renameOwnedBelow } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import { changedFields } from '../../http/changed-fields.ts';
import { clientRoleKey } from '../../http/document.ts';
import type { Expect } from '../../http/etag.ts';
import type { Principal } from '../../http/principal.ts';
import type { Access } from '../admin-access/service.ts';
import { clientFaults, resourceFaults, usesSecret } from './rules.ts';
import * as store from './store.ts';
import { fresh, merged, toRow, toWire } from './wire.ts';

const missing = () => new Problem('not-found', 'There is no such client');
const subjectOf = ({ id, clientId }: Client) => ({ type: 'client', id, name: clientId }) as const;

export function createClients({
  sql,
  transact,
  access,
  passwords,
  baseUrl,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  access: Pick<Access, 'covers'>;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}) {
  /** Whoever changes a client can act as it, so they must hold what it holds. */
  async function mustCover(principal: Principal, realm: string, clientUuid: string, on: Sql): Promise<void> {
    if (!(await access.covers(principal, realm, { clientUuid }, on)))
      throw new Problem('privilege-escalation', 'The client holds admin permissions that you do not hold');
  }

  /** @param changed what the client had before blames nobody who leaves it alone */
  async function refuseFaults(
    on: Sql,
    realm: string,
    client: Client,
    { secret, changed }: { secret: boolean; changed: readonly string[] },
  ): Promise<void> {
    const faults = clientFaults(client, secret);
    if (changed.includes('allowedResources')) faults.push(...resourceFaults(client, { baseUrl, realm }));
    const { defaultClientScopes: defaults, optionalClientScopes: optional, serviceAccountRoles: roles } = client;
    const scopes = await store.scopesNamed(on, realm, [...defaults, ...optional]);
    const known = await store.rolesNamed(on, realm, roles);
    const unknown = (field: string, kind: string, names: readonly string[], there: Set<string>): FieldError[] =>
      names.flatMap((name, i) => (there.has(name) ? [] : [unknownName(`${field}[${i}]`, kind, name)]));
    faults.push(
      ...unknown('defaultClientScopes', 'clientScope', defaults, scopes),
      ...unknown('optionalClientScopes', 'clientScope', optional, scopes),
      ...unknown('serviceAccountRoles', 'role', roles, known),
    );
    if (client.flowOverride !== null && !(await store.flowExists(on, realm, client.flowOverride)))
      faults.push(unknownName('flowOverride', 'flow', client.flowOverride));
    if (faults.length === 0) return;
    throw new Problem('invalid-request', faults.map((f) => `${f.path}: ${f.message}`).join('; '), { errors: faults });
  }

  async function link(on: Sql, realm: string, client: Client): Promise<void> {
    await store.setScopes(on, realm, client.id, {
      defaults: client.defaultClientScopes,
      optional: client.optionalClientScopes,
    });
    await store.setServiceAccountRoles(on, realm, client.id, client.serviceAccountRoles);
  }

  async function load(on: Sql, realm: string, id: string): Promise<store.ClientWithLinks> {
    const row = await store.find(on, realm, id);
    if (!row) throw missing();
    return row;
  }

  /** The defaults of a new client, but for scopes that this realm has done away with. */
  async function freshIn(on: Sql, realm: string, clientId: string): Promise<Client> {
    const client = fresh(newId(), clientId, now());
    const there = await store.scopesNamed(on, realm, [...client.defaultClientScopes, ...client.optionalClientScopes]);
    return {
      ...client,
      defaultClientScopes: client.defaultClientScopes.filter((scope) => there.has(scope)),
      optionalClientScopes: client.optionalClientScopes.filter((scope) => there.has(scope)),
    };
  }

  return {
    list: async (
      realm: string,
      search: { after: string; limit: number; search: string | undefined },
    ): Promise<Client[]> => (await store.list(sql, realm, search)).map(toWire),

    get: async (realm: string, id: string): Promise<Client> => toWire(await load(sql, realm, id)),

    async create(by: By, realm: string, input: ClientInput): Promise<Client> {
      const secret = input.secret === undefined ? undefined : await hashClientSecret(input.secret, passwords);
      return transact(realm, async ({ sql: on, record }) => {
        const client = merged(await freshIn(on, realm, input.clientId), input);
        await refuseFaults(on, realm, client, { secret: secret !== undefined, changed: Object.keys(client) });
        if (!(await store.insert(on, realm, toRow(client, secret ?? { hash: null, slow: null }))))
          throw new Problem('name-taken', `The clientId ${client.clientId} is taken`);
        await link(on, realm, client);
        record({ type: 'CLIENT_CREATED', realm, by, subject: subjectOf(client), clientId: client.clientId });
        return toWire(await load(on, realm, client.id));
      });
    },

    async update(
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      id: string,
      input: Changes<ClientInput>,
    ): Promise<Client> {
      const secret = input.secret === undefined ? undefined : await hashClientSecret(input.secret, passwords);
      const read = async (on: Sql) => {
        const row = await load(on, realm, id);
        const before = toWire(row);
        expect(before);
        const after = merged(before, input);
        const stored = { hash: row.secret_hash, slow: row.secret_slow };
        const newSecret =
          input.secret !== undefined && !(await sameClientSecret(stored, input.secret, passwords)) ? secret : undefined;
        const fields = [...changedFields(before, after), ...(newSecret ? ['secret'] : [])];
        return { before, after, stored, newSecret, fields };
      };
      return transact(realm, async ({ sql: on, record }) => {
        // Else the answer to the secret of a stronger client would tell whether it is the stored one.
        if (secret !== undefined) await mustCover(principal, realm, id, on);
        const unlocked = await read(on);
        if (unlocked.fields.length === 0) return unlocked.before;
        await mustCover(principal, realm, id, on);
        await store.lock(on, realm, id);
        const { before, after, stored, newSecret, fields } = await read(on);
        await refuseFaults(on, realm, after, { secret: input.secret !== undefined, changed: fields });
        const kept = usesSecret(after.tokenEndpointAuthMethod) ? stored : { hash: null, slow: null };
        if (!(await store.update(on, realm, toRow(after, newSecret ?? kept))))
          throw new Problem('name-taken', `The clientId ${after.clientId} is taken`);
        await link(on, realm, after);
        if (fields.includes('clientId')) {
          const [from, to] = [before.clientId, after.clientId];
          await renameOwned(on, realm, ['client', 'serviceAccountRoles'], from, to);
          await renameOwnedBelow(on, realm, 'clientRole', clientRoleKey(from, ''), clientRoleKey(to, ''));
        }
        record({
          type: 'CLIENT_UPDATED',
          realm,
          by,
          subject: subjectOf(after),
          clientId: after.clientId,
          data: { fields },
        });
        return toWire(await load(on, realm, id));
      });
    },

    remove: (
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      id: string,
    ): Promise<void> =>
      transact(realm, async ({ sql: on, record }) => {
        await store.lock(on, realm, id);
        const client = toWire(await load(on, realm, id));
        expect(client);
        await mustCover(principal, realm, id, on);
        if (!(await store.remove(on, realm, id))) throw missing();
        record({ type: 'CLIENT_DELETED', realm, by, subject: subjectOf(client), clientId: client.clientId });
      }),

    /** A new secret, given back this once. */
    makeSecret: (
      principal: Principal,
      by: By,
      realm: string,
      id: string,
    ): Promise<{ clientId: string; secret: string }> =>
      transact(realm, async ({ sql: on, record }) => {
        const client = toWire(await load(on, realm, id));
        await mustCover(principal, realm, id, on);
        if (!usesSecret(client.tokenEndpointAuthMethod))
          throw new Problem('invalid-request', `A client with ${client.tokenEndpointAuthMethod} has no secret`);
        const secret = newClientSecret();
        await store.setSecret(on, realm, id, await hashClientSecret(secret, passwords));
        record({ type: 'CLIENT_SECRET_CREATED', realm, by, subject: subjectOf(client), clientId: client.clientId });
        return { clientId: client.clientId, secret };
      }),
  };
}
export type Clients = ReturnType<typeof createClients>;
