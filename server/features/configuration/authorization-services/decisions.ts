// Owns: decisions about requests, by a model cached until the realm changes, with two queries for any number of policies.
// Does not own: the rules (evaluate.ts), tickets and tokens (features/protocol/uma).
// Implements: UMA 2.0 Grant §3.3.4; decisions "Authorization services".
import type { UmaPermission } from '../../../contract/uma-grant.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { decider, type Model, type Protected, type Runtime } from './evaluate.ts';
import { type Circumstances, type Found, readClient, readModel, readUser } from './model.ts';
import { isRegisteredId, readRuntime } from './runtime.ts';

/** The most permissions in a token: with more, it would be too long for a header. */
const MOST_PERMISSIONS = 200;

/** A requested permission; without scopes, all scopes of the resource are requested. */
export interface RequestedPermission {
  resource: string;
  scopes: readonly string[];
}
/** The requester, with the time and the requesting client. */
export interface RequestBy extends Circumstances {
  clientId: string;
  /** null: the client acts for itself. */
  userId: string | null;
}
/** A permission that was refused, and the owner who could share it. */
export interface Missing extends RequestedPermission {
  name: string;
  owner: string | null;
}
export interface Decision {
  permitted: UmaPermission[];
  missing: Missing[];
}

/** A subject that a resource server names, instead of a requester whose token it got. */
export type NamedSubject = { userId: string } | { username: string } | { clientId: string };
export interface About {
  model: Model;
  /** undefined: there is no such user or client. */
  found: Found | undefined;
  runtime: Runtime | undefined;
}

/** Whether the runtime part of the model matters to a decision about one of these resources. */
const needsRuntime = (model: Model, keys: readonly string[]): boolean =>
  keys.some((key) => isRegisteredId(key) || model.resources.get(key)?.ownerManaged);

export function createDecisions({ sql, now }: { sql: Sql; now: () => Date }) {
  const models = createRealmCache<Model | undefined>({ now, load: (realm, client) => readModel(sql, realm, client) });

  const whoAsks = (
    realm: string,
    { userId, ...circumstances }: RequestBy,
    { usernames }: Model,
  ): Promise<Found | undefined> =>
    userId === null
      ? readClient(sql, realm, circumstances.clientId, circumstances)
      : readUser(sql, realm, { userId }, { ...circumstances, usernames });

  return {
    model: (realm: string, client: string): Promise<Model | undefined> => models.get(realm, client),

    /** The resource server's resources among these, by the requested id or name. */
    async resources(
      realm: string,
      client: string,
      keys: readonly string[],
    ): Promise<(key: string) => Protected | undefined> {
      const [model, { registered }] = await Promise.all([
        models.get(realm, client),
        readRuntime(sql, realm, { client, userId: null, which: { keys }, usernames: [] }),
      ]);
      return (key) => model?.resources.get(key) ?? registered.get(key);
    },

    /**
     * The permitted part of the request, resource by resource.
     * @param asked `theirs`: all of the resource server's resources that the requester may use
     */
    async of(
      realm: string,
      client: string,
      requester: RequestBy,
      asked: readonly RequestedPermission[] | 'theirs',
    ): Promise<Decision> {
      const model = await models.get(realm, client);
      if (!model) return { permitted: [], missing: [] };
      const keys = asked === 'theirs' ? [] : asked.map(({ resource }) => resource);
      const needed = asked === 'theirs' || needsRuntime(model, keys);
      const { userId } = requester;
      const { usernames } = model;
      const which = asked === 'theirs' ? asked : { keys };
      const [found, runtime] = await Promise.all([
        whoAsks(realm, requester, model),
        needed ? readRuntime(sql, realm, { client, userId, which, usernames }) : undefined,
      ]);
      if (!found) return { permitted: [], missing: [] };
      const { decide } = decider(model, found.requester, runtime);
      const known = (key: string): Protected | undefined => model.resources.get(key) ?? runtime?.registered.get(key);
      const all = [...model.resources.keys(), ...(runtime?.registered.keys() ?? [])];
      const wanted = asked === 'theirs' ? all.map((resource) => ({ resource, scopes: [] })) : asked;
      const decision: Decision = { permitted: [], missing: [] };
      for (const { resource: key, scopes } of wanted) {
        const resource = known(key);
        const each = decide({ resource: key, scopes }) ?? [];
        const granted = each.filter(({ vote }) => vote === 'permit');
        const of = (some: typeof each) => some.flatMap(({ scope }) => scope ?? []);
        if (resource && granted.length > 0) {
          const shared = of(granted.filter((one) => one.shared));
          decision.permitted.push({
            rsid: key,
            rsname: resource.name,
            ...(of(granted).length > 0 && { scopes: of(granted) }),
            ...(shared.length > 0 && { shared }),
          });
        }
        if (granted.length === each.length && each.length > 0) continue;
        const denied = of(each.filter(({ vote }) => vote !== 'permit')).filter((scope) =>
          resource?.scopes.includes(scope),
        );
        decision.missing.push({
          resource: key,
          name: resource?.name ?? key,
          scopes: denied,
          owner: resource?.ownerManaged ? resource.owner : null,
        });
      }
      return { ...decision, permitted: decision.permitted.slice(0, MOST_PERMISSIONS) };
    },

    /** The input of decisions about a subject that the resource server names, and these resources. */
    async about(realm: string, client: string, named: NamedSubject, keys: readonly string[]): Promise<About> {
      const model = await models.get(realm, client);
      if (!model) throw new Error('the client is gone');
      const { usernames } = model;
      const read = (userId: string | null) =>
        needsRuntime(model, keys)
          ? readRuntime(sql, realm, { client, userId, which: { keys }, usernames })
          : Promise.resolve(undefined);
      const circumstances = { clientId: null, at: now(), context: {} };
      if ('clientId' in named) {
        const { clientId } = named;
        const asClient = readClient(sql, realm, clientId, { ...circumstances, clientId });
        const [found, runtime] = await Promise.all([asClient, read(null)]);
        return { model, found, runtime };
      }
      const asUser = readUser(sql, realm, named, { ...circumstances, usernames });
      if ('userId' in named) {
        const [found, runtime] = await Promise.all([asUser, read(named.userId)]);
        return { model, found, runtime };
      }
      const found = await asUser;
      return { model, found, runtime: await read(found?.userId ?? null) };
    },

    drop: models.drop,
  };
}
export type Decisions = ReturnType<typeof createDecisions>;
