// Owns: the searches of the Authorization API for subjects, resources and actions, page by page.
// Does not own: single decisions (service.ts), the rules (features/configuration/authorization-services).
// Implements: Authorization API 1.0 §8; decisions "Authorization services".
import { z } from 'zod';
import { type ActionSearch, MOST_RESULTS, type ResourceSearch, type SubjectSearch } from '../../../contract/authzen.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { decider, type Runtime } from '../../configuration/authorization-services/evaluate.ts';
import { type Found, readClients, readUsers } from '../../configuration/authorization-services/model.ts';
import {
  isRegisteredId,
  readRuntime,
  registeredOfType,
  sharesOf,
} from '../../configuration/authorization-services/runtime.ts';
import { clientIn, contextOf } from './requests.ts';
import { type Access, type AccessDeps, type Caller, keyOf, partyOf, type Ready, typeOf } from './service.ts';
import { idAs } from './subjects.ts';

/** A page's usual size. */
const LIMIT = 100;
/** The most candidates that one request judges, so that a search in a large realm takes many short requests. */
const MOST_CANDIDATES = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface Entity {
  type: string;
  id: string;
}
export interface Results<Item> {
  results: Item[];
  page: { next_token: string; count: number };
}
/** The place where the next page begins. */
const Place = z.strictObject({ of: z.enum(['configured', 'registered', 'subjects']), after: z.string().max(2048) });
type Place = z.infer<typeof Place>;

const tokenOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');
/** @throws OAuthError `invalid_request` if it is no place of this search */
function placeIn(token: string | undefined, expected: readonly Place['of'][]): Place | undefined {
  if (token === undefined || token === '') return undefined;
  try {
    const place = Place.parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
    const isId = place.of === 'registered' || isRegisteredId(place.after) || place.after.length > 0;
    if (expected.includes(place.of) && isId && !place.after.includes('\0')) return place;
  } catch {
    // falls through to the refusal
  }
  throw new OAuthError('invalid_request', 'page.token: is no token of this search');
}
const uuidIn = (place: Place | undefined): string =>
  place !== undefined && isRegisteredId(place.after) ? place.after : FIRST_ID;

const answer = <Item>(results: Item[], next: Place | undefined): Results<Item> => ({
  results,
  page: { next_token: next ? tokenOf(next) : '', count: results.length },
});

export interface SearchDeps extends Pick<AccessDeps, 'sql' | 'settings' | 'now'> {
  access: Access;
}

export function createSearches({ sql, settings, access, now }: SearchDeps) {
  type Request = Parameters<typeof contextOf>[0];
  /** Judges one subject's requests in the circumstances of the search. */
  const judgeOf = ({ model }: Pick<Ready, 'model'>, found: Found, runtime: Runtime | undefined, asked: Request) => {
    const clientId = found.userId === null ? found.requester.clientId : clientIn(asked);
    const { decide } = decider(model, { ...found.requester, clientId, context: contextOf(asked), at: now() }, runtime);
    return (resource: string, scopes: readonly string[]): string[] =>
      (decide({ resource, scopes }) ?? []).flatMap(({ scope, vote }) =>
        scope !== null && vote === 'permit' ? [scope] : [],
      );
  };
  const record = (caller: Caller, kind: string, about: Record<string, unknown>, found?: Found) =>
    access.record(caller, {
      type: 'ACCESS_SEARCHED',
      subject: partyOf(found),
      data: { search: kind, ...about },
    });

  return {
    async subjects(caller: Caller, asked: SubjectSearch): Promise<Results<Entity>> {
      const { realm, server } = caller;
      const model = await access.mustServe(caller, 'search');
      const { usernames } = model;
      const { type } = asked.subject;
      const { limit = LIMIT } = asked.page ?? {};
      record(caller, 'subject', { subjectType: type, resource: asked.resource.id, action: asked.action.name });
      const keys = [asked.resource.id];
      const base = isRegisteredId(asked.resource.id)
        ? await readRuntime(sql, realm, { client: server.id, userId: null, which: { keys }, usernames })
        : undefined;
      const key = keyOf({ model, found: undefined, runtime: base }, asked.resource);
      if (key === undefined || !['user', 'identity', 'client'].includes(type)) return answer([], undefined);
      const place = placeIn(asked.page?.token, ['subjects']);
      const circumstances = { at: now(), context: {}, usernames };
      const candidates =
        type === 'client'
          ? await readClients(sql, realm, { after: place?.after ?? '', limit: MOST_CANDIDATES }, circumstances)
          : await readUsers(
              sql,
              realm,
              { after: uuidIn(place), limit: MOST_CANDIDATES },
              { ...circumstances, clientId: null },
            );
      const users = candidates.flatMap(({ found }) => found.userId ?? []);
      const shares = await sharesOf(sql, realm, { client: server.id, resource: key, users, usernames });
      const byAttribute = (await settings.of(realm))?.subjectStrategy === 'attribute';
      const results: Entity[] = [];
      for (const [nth, candidate] of candidates.entries()) {
        const { found } = candidate;
        const shared = shares.get(found.userId ?? '') ?? new Map();
        const runtime = { registered: base?.registered ?? new Map(), shared };
        const id = idAs(type, found, { byAttribute });
        if (id === undefined || judgeOf({ model }, found, runtime, asked)(key, [asked.action.name]).length === 0)
          continue;
        results.push({ type, id });
        const isLast = nth === candidates.length - 1 && candidates.length < MOST_CANDIDATES;
        if (results.length === limit && !isLast) return answer(results, { of: 'subjects', after: candidate.key });
      }
      const last = candidates.length === MOST_CANDIDATES ? candidates.at(-1) : undefined;
      return answer(results, last && { of: 'subjects', after: last.key });
    },

    async resources(caller: Caller, asked: ResourceSearch): Promise<Results<Entity>> {
      const { realm, server } = caller;
      const model = await access.mustServe(caller, 'search');
      const { limit = LIMIT } = asked.page ?? {};
      const { type } = asked.resource;
      const place = placeIn(asked.page?.token, ['configured', 'registered']);
      const action = asked.action.name;
      const configured = [...model.resources.values()]
        .filter((resource) => typeOf(resource) === type)
        .map(({ name }) => name)
        .sort()
        .filter((name) => place === undefined || (place.of === 'configured' && name > place.after))
        .slice(0, MOST_CANDIDATES);
      const registered =
        configured.length === MOST_CANDIDATES
          ? []
          : await registeredOfType(sql, realm, {
              client: server.id,
              type,
              after: place?.of === 'registered' ? uuidIn(place) : FIRST_ID,
              limit: MOST_CANDIDATES - configured.length,
            });
      const keys = [...configured, ...registered];
      const known = await access.ready(caller, asked.subject, keys);
      record(caller, 'resource', { resourceType: type, action }, known?.found);
      if (!known?.found) return answer([], undefined);
      const permitted = judgeOf(known, known.found, known.runtime, asked);
      const results: Entity[] = [];
      for (const [nth, key] of keys.entries()) {
        if (permitted(key, [action]).length === 0) continue;
        results.push({ type, id: key });
        if (results.length === limit && nth < keys.length - 1) return answer(results, placeOf(nth));
      }
      return answer(results, keys.length === MOST_CANDIDATES ? placeOf(keys.length - 1) : undefined);

      function placeOf(nth: number): Place {
        return { of: nth < configured.length ? 'configured' : 'registered', after: keys[nth] ?? '' };
      }
    },

    /** The resource's actions fit on one page. */
    async actions(caller: Caller, asked: ActionSearch): Promise<Results<{ name: string }>> {
      await access.mustServe(caller, 'search');
      const known = await access.ready(caller, asked.subject, [asked.resource.id]);
      record(caller, 'action', { resource: asked.resource.id }, known?.found);
      const key = known && keyOf(known, asked.resource);
      if (!known?.found || key === undefined) return answer([], undefined);
      const scopes = judgeOf(known, known.found, known.runtime, asked)(key, []);
      return answer(
        scopes.slice(0, MOST_RESULTS).map((name) => ({ name })),
        undefined,
      );
    },
  };
}
export type Searches = ReturnType<typeof createSearches>;
