// Owns: the AuthZEN Authorization API: decisions about subjects that a resource server names, one or many at once.
// Does not own: the rules (features/configuration/authorization-services), lists of what is permitted (search.ts).
// Implements: Authorization API 1.0 §6, §7; decisions "Authorization services".
import type { Decision, Evaluation, Evaluations } from '../../../contract/authzen.ts';
import type { By, DomainEvent, Party } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import { partyOfClient } from '../../../domain/agents.ts';
import { userParty } from '../../../domain/party.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Decisions, NamedSubject } from '../../configuration/authorization-services/decisions.ts';
import {
  decider,
  type Model,
  type Protected,
  type Runtime,
} from '../../configuration/authorization-services/evaluate.ts';
import type { Found } from '../../configuration/authorization-services/model.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { ROUTE, routeNamed } from './paths.ts';
import { clientIn, contextOf, singleRequests } from './requests.ts';
import { createNaming } from './subjects.ts';

export interface Caller {
  realm: string;
  server: ClientView;
  ipAddress: string;
}

export interface AccessDeps {
  sql: Sql;
  settings: { of(realm: string): Promise<Pick<RealmSettingsDto, 'subjectStrategy'> | undefined> };
  decisions: Decisions;
  batch: Pick<EventBatch, 'record'>;
  now: () => Date;
}

/** A subject, and the resources that the request names, as they are stored. */
export interface Ready {
  model: Model;
  found: Found | undefined;
  runtime: Runtime | undefined;
}

export const byOf = ({ server, ipAddress }: Caller): By => ({ actor: partyOfClient(server), ipAddress });

/** The party of a subject that exists. */
export const partyOf = (found: Found | undefined): Party | null => {
  if (!found) return null;
  const { userId, requester } = found;
  if (userId !== null) return userParty(userId, requester.username ?? '');
  return { type: 'client', id: null, name: requester.clientId };
};

/** A resource's type as the API has it. */
export const typeOf = ({ type }: Pick<Protected, 'type'>): string => type ?? 'resource';

/** The key of the resource that is asked about; undefined: the client has none of this type and name. */
export function keyOf({ model, runtime }: Ready, { type, id }: { type: string; id: string }): string | undefined {
  const key = type === ROUTE ? routeNamed(model, id) : id;
  const resource = key === undefined ? undefined : (model.resources.get(key) ?? runtime?.registered.get(key));
  return resource && typeOf(resource) === type ? key : undefined;
}

export function createAccess({ sql, settings, decisions, batch, now }: AccessDeps) {
  const naming = createNaming({ sql, settings });

  /** @throws OAuthError `access_denied` unless the client's authorization services answer such requests */
  async function mustServe({ realm, server }: Caller, what: 'decisions' | 'search'): Promise<Model> {
    const model = await decisions.model(realm, server.id);
    const { accessApi = 'none' } = model?.settings ?? {};
    if (!model || accessApi === 'none' || (what === 'search' && accessApi !== 'search'))
      throw new OAuthError('access_denied', 'The client’s authorization services do not answer this (accessApi)');
    return model;
  }

  async function ready(
    { realm, server }: Caller,
    subject: { type: string; id: string },
    keys: readonly string[],
  ): Promise<Ready | undefined> {
    const named: NamedSubject | undefined = await naming.of(realm, subject);
    return named && decisions.about(realm, server.id, named, keys);
  }

  /** Decides requests in their order. Each subject is read once, and each set of circumstances is judged once. */
  async function* decide(caller: Caller, list: readonly Evaluation[]): AsyncGenerator<[boolean, Found | undefined]> {
    const name = ({ type, id }: { type: string; id: string }) => JSON.stringify([type, id]);
    const bySubject = Map.groupBy(list, ({ subject }) => name(subject));
    const readies = new Map<string, Promise<Ready | undefined>>();
    const judges = new Map<string, ReturnType<typeof decider>['decide']>();
    for (const asked of list) {
      const of = name(asked.subject);
      const reading =
        readies.get(of) ??
        ready(caller, asked.subject, [...new Set(bySubject.get(of)?.map(({ resource }) => resource.id))]);
      readies.set(of, reading);
      const known = await reading;
      const key = known && keyOf(known, asked.resource);
      if (!known?.found || key === undefined) {
        yield [false, known?.found];
        continue;
      }
      const { requester } = known.found;
      const context = contextOf(asked);
      const clientId = known.found.userId === null ? requester.clientId : clientIn(asked);
      const circumstances = JSON.stringify([of, clientId, context]);
      const judge =
        judges.get(circumstances) ??
        decider(known.model, { ...requester, clientId, context, at: now() }, known.runtime).decide;
      judges.set(circumstances, judge);
      const votes = judge({ resource: key, scopes: [asked.action.name] }) ?? [];
      yield [votes.length > 0 && votes.every(({ vote }) => vote === 'permit'), known.found];
    }
  }

  const record = (caller: Caller, event: Pick<DomainEvent, 'type' | 'subject' | 'outcome' | 'data'>) =>
    batch.record({ realm: caller.realm, by: byOf(caller), clientId: caller.server.clientId, ...event });

  /** One decision: as many statements as one of the token endpoint. */
  async function evaluate(caller: Caller, asked: Evaluation): Promise<Decision> {
    await mustServe(caller, 'decisions');
    for await (const [decision, found] of decide(caller, [asked])) {
      const { resource, action } = asked;
      record(caller, {
        type: 'ACCESS_EVALUATED',
        subject: partyOf(found),
        outcome: decision ? 'success' : 'denied',
        data: { resourceType: resource.type, resource: resource.id, action: action.name },
      });
      return { decision };
    }
    throw new Error('a request has one decision');
  }

  return {
    mustServe,
    ready,
    record,
    evaluate,

    async evaluations(caller: Caller, asked: Evaluations): Promise<{ evaluations: Decision[] }> {
      await mustServe(caller, 'decisions');
      const { evaluations_semantic: semantic = 'execute_all' } = asked.options ?? {};
      const singles = singleRequests(asked);
      const decided = decide(
        caller,
        singles.flatMap((one) => ('asked' in one ? [one.asked] : [])),
      );
      const evaluations: Decision[] = [];
      for (const one of singles) {
        const decision = 'asked' in one && ((await decided.next()).value?.[0] ?? false);
        evaluations.push(
          'fault' in one ? { decision, context: { error: { status: 400, message: one.fault } } } : { decision },
        );
        if (semantic === 'deny_on_first_deny' && !decision) break;
        if (semantic === 'permit_on_first_permit' && decision) break;
      }
      const permitted = evaluations.filter(({ decision }) => decision).length;
      record(caller, {
        type: 'ACCESS_EVALUATED',
        subject: null,
        outcome: permitted > 0 ? 'success' : 'denied',
        data: { evaluations: evaluations.length, permitted },
      });
      return { evaluations };
    },
  };
}
export type Access = ReturnType<typeof createAccess>;
