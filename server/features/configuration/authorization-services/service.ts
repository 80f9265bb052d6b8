// Owns: the admin API of a client's authorization services: as a whole, item by item, and evaluating requests.
// Does not own: writing objects (resource/api.ts), the decision (evaluate.ts).
// Implements: specification 4.10; decisions "Authorization services".
import type { z } from 'zod';
import type { evaluateAuthorization } from '../../../contract/authorization-service-routes.ts';
import type { AuthorizationService, ItemList } from '../../../contract/authorization-services.ts';
import { Problem, unknownName } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { type Principal, requirePermission } from '../../../domain/principal.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import type { Caller, ResourceApi } from '../../../resource/api.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import { evaluator, type Model } from './evaluate.ts';
import * as items from './items.ts';
import { type Found, readClient, readModel, readUser } from './model.ts';
import { freshServices, servicesOf } from './resource.ts';
import type { Services } from './rules.ts';
import { readRuntime } from './runtime.ts';

/** The most policy outcomes in a response: nobody would read a longer report. */
const MOST_OUTCOMES = 50_000;

type Question = z.output<(typeof evaluateAuthorization)['body']>;
type Answer = z.input<(typeof evaluateAuthorization)['response']>;
export interface At {
  realm: string;
  clientId: string;
}

export interface AuthorizationServicesDeps {
  sql: Sql;
  api: ResourceApi;
  clients: Resource;
  of: Resource;
  now: () => Date;
}

export function createAuthorizationServices({ sql, api, clients, of, now }: AuthorizationServicesDeps) {
  const keyOf = async ({ realm, clientId: id }: At): Promise<string> => (await api.get(clients, realm, { id })).key;

  async function read(at: At): Promise<AuthorizationService> {
    const clientId = await keyOf(at);
    const found = (await of.read(sql, at.realm, [clientId])).get(clientId);
    return { clientId, ...(found ? servicesOf(found.fields) : freshServices()) };
  }
  /** @param shown the object that the caller's condition refers to */
  async function edit(
    { realm, clientId: id }: At,
    caller: Caller,
    { shown, to }: { shown(services: Services): object; to(services: Services): Fields },
  ): Promise<Services> {
    const step = (fields: Fields) => {
      const services = servicesOf(fields);
      caller.expect(shown(services));
      return to(services);
    };
    return servicesOf(await api.edit({ of: clients, part: of }, caller, realm, { id }, step));
  }

  async function requesterOf(
    realm: string,
    { userId, username, clientId, context }: Question,
    { usernames }: Model,
  ): Promise<Found> {
    const circumstances = {
      clientId: clientId ?? null,
      at: context?.time === undefined ? now() : new Date(context.time),
      context: context?.attributes ?? {},
    };
    const refuse = (path: string, message: string) =>
      new Problem('invalid-request', undefined, { errors: [{ path, message }] });
    if (userId !== undefined || username !== undefined) {
      const found = await readUser(sql, realm, { userId, username }, { ...circumstances, usernames });
      const [path, key] = userId === undefined ? ['username', username ?? ''] : ['userId', userId];
      if (!found) throw new Problem('invalid-request', undefined, { errors: [unknownName(path, 'user', key)] });
      return found;
    }
    if (clientId === undefined) throw refuse('username', 'is required, or userId, or a clientId that asks for itself');
    const found = await readClient(sql, realm, clientId, circumstances);
    if (!found)
      throw new Problem('invalid-request', undefined, { errors: [unknownName('clientId', 'client', clientId)] });
    return found;
  }

  return {
    read,

    async put(
      at: At,
      caller: Caller,
      { clientId, managedBy: _, ...input }: Partial<AuthorizationService>,
    ): Promise<AuthorizationService> {
      const key = await keyOf(at);
      if (clientId !== undefined && clientId !== key)
        throw new Problem('invalid-request', undefined, {
          errors: [{ path: 'clientId', message: `must be ${key}, as in the path` }],
        });
      const written = await edit(at, caller, {
        shown: (services) => ({ clientId: key, ...services }),
        to: ({ settings }) => ({ ...input, ...(input.settings && { settings: { ...settings, ...input.settings } }) }),
      });
      return { clientId: key, ...written };
    },

    remove: async (at: At, caller: Caller): Promise<void> => api.remove(of, caller, at.realm, { key: await keyOf(at) }),

    putSettings: async (at: At, caller: Caller, input: Partial<Services['settings']>) =>
      (
        await edit(at, caller, {
          shown: ({ settings }) => settings,
          to: ({ settings }) => ({ settings: { ...settings, ...input } }),
        })
      ).settings,

    async create(at: At, caller: Caller, list: ItemList, item: items.NamedItem): Promise<items.NamedItem> {
      let index = -1;
      const written = edit(
        at,
        { ...caller, expect: () => {} },
        {
          shown: () => ({}),
          to: (services) => {
            const next = items.withAddedItem(services, list, item);
            index = items.placeOf(next, list, item.name);
            return next;
          },
        },
      );
      return items.itemOf(await items.toldOfItem(list, () => index, written), list, item.name);
    },

    async replace(
      at: At,
      caller: Caller,
      list: ItemList,
      name: string,
      input: Partial<items.NamedItem>,
    ): Promise<items.NamedItem> {
      let index = -1;
      const written = edit(at, caller, {
        shown: (services) => items.itemOf(services, list, name),
        to: (services) => {
          const next = items.withChangedItem(services, list, name, input);
          index = items.placeOf(next, list, name);
          return next;
        },
      });
      return items.itemOf(await items.toldOfItem(list, () => index, written), list, name);
    },

    async removeItem(at: At, caller: Caller, list: ItemList, name: string): Promise<void> {
      await edit(at, caller, {
        shown: (services) => items.itemOf(services, list, name),
        to: (services) => items.withoutItem(services, list, name),
      });
    },

    /** @throws Problem `forbidden` if it would reveal a user to a caller without permission to read users */
    async evaluate({ realm, clientId }: At, principal: Principal, question: Question): Promise<Answer> {
      const model = await readModel(sql, realm, clientId);
      if (!model) throw new Problem('not-found', 'There is no such client');
      const ofUser = question.userId !== undefined || question.username !== undefined;
      if (ofUser)
        requirePermission(principal, realm, 'users:read', 'A decision for a user needs the permission users:read');
      const { userId, requester } = await requesterOf(realm, question, model);
      const profile = await readProfile(sql, realm);
      const hides = (name: string) => !Object.hasOwn(visibleTo(profile, 'admin', { [name]: [] }), name);
      const keys = question.permissions.map(({ resource }) => resource);
      const { usernames } = model;
      const runtime = await readRuntime(sql, realm, { client: clientId, userId, which: { keys }, usernames });
      const answer = evaluator(model, { ...requester, hides }, runtime);
      const results: ReturnType<typeof answer>[] = [];
      let outcomes = 0;
      for (const asked of question.permissions) {
        const result = answer(asked);
        outcomes += result.permissions.reduce((sum, { policies }) => sum + policies.length, 0);
        if (outcomes > MOST_OUTCOMES)
          throw new Problem(
            'too-large',
            `The answer would explain more than ${MOST_OUTCOMES} policies: ask for fewer permissions at once`,
          );
        results.push(result);
      }
      return { userId, username: requester.username, clientId: requester.clientId, results };
    },
  };
}
export type AuthorizationServices = ReturnType<typeof createAuthorizationServices>;
