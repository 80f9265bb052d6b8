// Owns: the protection API: resource servers register users' resources, and request tickets for clients without permission.
// Does not own: decisions (authorization-services/decisions.ts), a ticket's use (grant.ts), introspection
// (features/protocol/introspect).
// Implements: Federated Authorization for UMA 2.0 §1.3, §3, §4.
import type { By } from '../../../contract/events.ts';
import type { PermissionRequest, ResourceDescription } from '../../../contract/uma.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { partyOfClient } from '../../../domain/agents.ts';
import { userParty } from '../../../domain/party.ts';
import { PROTECTION_SCOPE } from '../../../domain/scopes.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import type { Decisions } from '../../configuration/authorization-services/decisions.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import * as store from './resource-store.ts';
import type { Person } from './sharing.ts';
import { newTicket } from './tickets.ts';

/** The most resources of one resource server, and of one owner there. */
const MOST = 100_000;
const MOST_OWNED = 1_000;

/** The caller: a resource server, for itself or for a user. */
export interface ResourceServer {
  client: ClientView;
  owner: Person | undefined;
}

export interface ProtectionDeps {
  sql: Sql;
  transact: Transact;
  tokens: Pick<Tokens, 'present'>;
  subjects: Pick<Subjects, 'find'>;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  decisions: Pick<Decisions, 'model' | 'resources'>;
  now: () => Date;
  newId: () => string;
}

const described = (given: ResourceDescription): store.Described => ({
  name: given.name ?? null,
  description: given.description ?? null,
  type: given.type ?? null,
  iconUri: given.icon_uri ?? null,
  uris: [...new Set(given.uris)],
  scopes: [...new Set(given.resource_scopes)].sort(),
});
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isId = (id: string): boolean => UUID.test(id);
const notFound = () => new OAuthError('not_found', 'There is no such resource');
const of = ({ client, owner }: ResourceServer): store.Of => ({ client: client.id, userId: owner?.userId });
const byOf = ({ client, owner }: ResourceServer, ipAddress: string): By => ({
  actor: owner ? userParty(owner.userId, owner.username) : partyOfClient(client),
  ipAddress,
});

export function createProtection(deps: ProtectionDeps) {
  const { sql, transact, tokens, subjects, settings, clients, decisions, now, newId } = deps;

  /** Whether the name is the user's, in any case and Unicode form. */
  const isNamed = async (realm: string, { userId, username }: Person, name: string): Promise<boolean> =>
    name === username || (await store.userIdOf(sql, realm, name)) === userId;

  async function ownerOf(realm: string, { owner }: ResourceServer, given: ResourceDescription): Promise<string | null> {
    if (owner && given.owner !== undefined && !(await isNamed(realm, owner, given.owner)))
      throw new OAuthError('invalid_request', 'owner: the token is a person’s, so the resource is that person’s');
    if (owner) return owner.userId;
    if (given.owner === undefined) return null;
    const found = await store.userIdOf(sql, realm, given.owner);
    if (found === undefined) throw new OAuthError('invalid_request', 'owner: no user has this username');
    return found;
  }

  /** @throws OAuthError `access_denied` if the client may not register resources */
  async function mustRegister(realm: string, { client }: ResourceServer): Promise<void> {
    const model = await decisions.model(realm, client.id);
    if (!model?.settings.remoteResources)
      throw new OAuthError('access_denied', 'The client’s authorization services take no resources (remoteResources)');
  }

  return {
    /** @throws OAuthError `invalid_token`, `insufficient_scope` */
    async caller(realm: string, presented: PresentedToken | undefined): Promise<ResourceServer> {
      const invalid = (reason: string) =>
        new OAuthError('invalid_token', 'The access token is not valid here', { reason });
      if (!presented) throw invalid('there is none');
      const claims = await tokens.present(realm, presented, { audience: await settings.issuer(realm) });
      if (!claims) throw invalid('it does not verify');
      if (!(claims.scope ?? '').split(' ').includes(PROTECTION_SCOPE))
        throw new OAuthError('insufficient_scope', `This needs the scope ${PROTECTION_SCOPE}`);
      if (claims.act !== undefined) throw invalid('it names an acting party');
      const client = await clients.view(realm, claims.client_id ?? '');
      if (!client) throw invalid('its client is gone');
      if (!isPersons(claims)) return { client, owner: undefined };
      const [owner] = await sql<{ userId: string; username: string }>`
        select id as "userId", username from realm_user
        where realm_id = ${realm} and id = ${subjects.find(realm, claims) ?? null} and enabled`;
      if (!owner) throw invalid('its user is gone or disabled');
      return { client, owner };
    },

    list: async (realm: string, server: ResourceServer, name: string | undefined): Promise<string[]> =>
      (await store.listRegistered(sql, realm, of(server), { name: name ?? null, most: MOST })).map(({ id }) => id),

    async read(realm: string, server: ResourceServer, id: string) {
      const row = isId(id) ? await store.readRegistered(sql, realm, of(server), id) : undefined;
      if (!row) throw notFound();
      const { owner, name, description, type, icon_uri, uris, scopes } = row;
      const given = Object.entries({ owner, name, description, type, icon_uri }).filter(([, value]) => value !== null);
      return { _id: id, ...Object.fromEntries(given), ...(uris.length > 0 && { uris }), resource_scopes: scopes };
    },

    async register(realm: string, server: ResourceServer, given: ResourceDescription, ip: string): Promise<string> {
      await mustRegister(realm, server);
      const owner = await ownerOf(realm, server, given);
      const { client } = server;
      const [id, resource] = [newId(), described(given)];
      await transact(realm, async (tx) => {
        const there = await store.countRegistered(tx.sql, realm, { client: client.id, owner });
        if (there.all >= MOST || there.owned >= MOST_OWNED)
          throw new OAuthError('access_denied', 'The number of resources is at its limit');
        await store.insertRegistered(tx.sql, realm, { ...resource, id, client: client.id, owner, at: now() });
        const data = { resource: id, name: resource.name, scopes: resource.scopes, owner };
        tx.record({ type: 'RESOURCE_REGISTERED', realm, by: byOf(server, ip), clientId: client.clientId, data });
      });
      return id;
    },

    async update(realm: string, server: ResourceServer, id: string, given: ResourceDescription, ip: string) {
      await mustRegister(realm, server);
      const resource = described(given);
      await transact(realm, async (tx) => {
        const there = isId(id) && (await store.updateRegistered(tx.sql, realm, of(server), id, resource));
        if (!there) throw notFound();
        const data = { resource: id, name: resource.name, scopes: resource.scopes };
        const { clientId } = server.client;
        tx.record({ type: 'RESOURCE_UPDATED', realm, by: byOf(server, ip), clientId, data });
      });
    },

    async remove(realm: string, server: ResourceServer, id: string, ip: string): Promise<void> {
      await transact(realm, async (tx) => {
        if (!isId(id) || !(await store.deleteRegistered(tx.sql, realm, of(server), id))) throw notFound();
        const { clientId } = server.client;
        tx.record({ type: 'RESOURCE_DELETED', realm, by: byOf(server, ip), clientId, data: { resource: id } });
      });
    },

    /** @throws OAuthError `invalid_resource_id`, `invalid_scope` */
    async ticket(realm: string, server: ResourceServer, given: PermissionRequest, ip: string): Promise<string> {
      const { client, owner } = server;
      const requests = [given].flat();
      const keys = requests.map(({ resource_id: key }) => key);
      const resourceOf = await decisions.resources(realm, client.id, keys);
      for (const { resource_id: key, resource_scopes: scopes } of requests) {
        const resource = resourceOf(key);
        const theirs = !owner || (!!resource?.owner && (await isNamed(realm, owner, resource.owner)));
        if (!resource || !theirs)
          throw new OAuthError('invalid_resource_id', 'The resource server has no such resource of the token’s');
        if (scopes.some((scope) => !resource.scopes.includes(scope)))
          throw new OAuthError('invalid_scope', 'A scope is not one of the resource');
      }
      const permissions = requests.map(({ resource_id, resource_scopes }) => ({
        resource: resource_id,
        scopes: resource_scopes,
      }));
      const context = Object.assign({}, ...requests.map(({ claims }) => claims)) as Record<string, string[]>;
      return transact(realm, async (tx) => {
        tx.record({
          type: 'PERMISSION_REQUESTED',
          realm,
          by: byOf(server, ip),
          clientId: client.clientId,
          data: { permissions },
        });
        return newTicket(tx.sql, realm, { client: client.id, permissions, context, now: now() });
      });
    },
  };
}
export type Protection = ReturnType<typeof createProtection>;
