// The grant of User-Managed Access: a user's permissions at a resource server, as a token, a decision or a list. The
// request contains a ticket, which the resource server issued when it refused, or names resources. UMA 2.0 Grant §3.3;
// decisions "Authorization services".
import type { DomainEvent } from '../../../contract/events.ts';
import { ACCESS_TOKEN_TYPE } from '../../../contract/oauth.ts';
import { ID_TOKEN_FORMAT, UMA_TICKET, type UmaPermission, type umaTicketBody } from '../../../contract/uma-grant.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { isFor } from '../../../domain/on-behalf.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { refusedEvent } from '../../../events/refusals.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Decision, Decisions, RequestedPermission } from '../../configuration/authorization-services/decisions.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import { workloadOf } from '../client-authentication/service.ts';
import type { Answered, Grant, GrantCall, Granted } from '../token/grant.ts';
import { umaTerms } from './grant-terms.ts';
import { ownPermissions, type Requesters, type RequestingParty } from './requester.ts';
import type { Sharing } from './sharing.ts';
import { takeTicket } from './store.ts';
import { invalidTicket, newTicket, type Presented, presentedTicket } from './tickets.ts';

/** How soon a client may ask again while an owner's decision is awaited. */
const INTERVAL_SECONDS = 30;

export interface UmaGrantDeps {
  sql: Sql;
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  requesters: Requesters;
  decisions: Decisions;
  sharing: Pick<Sharing, 'request'>;
  mint: Pick<Mint, 'forResourceServer'>;
  batch: Pick<EventBatch, 'record'>;
  now: () => Date;
}
type Call = GrantCall<(typeof umaTicketBody)['_output']>;
interface Case {
  call: Call;
  server: ClientView;
  party: RequestingParty;
  ticket: Presented | undefined;
}

const denied = (error: 'access_denied' | 'request_denied', more: ConstructorParameters<typeof OAuthError>[2] = {}) =>
  new OAuthError(error, 'Nothing of what was asked for is permitted', more);

/** `resource#scope,scope`; a resource with # in its name has a further # at the end. */
function permissionOf(text: string): RequestedPermission {
  const at = text.lastIndexOf('#');
  if (at < 0) return { resource: text, scopes: [] };
  return {
    resource: text.slice(0, at),
    scopes: text
      .slice(at + 1)
      .split(',')
      .filter(Boolean),
  };
}

/** Merges entries of the same resource; an entry without scopes means all of them. */
function merged(asked: readonly RequestedPermission[]): RequestedPermission[] {
  const by = new Map<string, readonly string[]>();
  for (const { resource, scopes } of asked) {
    const before = by.get(resource);
    const all = before?.length === 0 || scopes.length === 0;
    by.set(resource, all ? [] : [...new Set([...(before ?? []), ...scopes])]);
  }
  return [...by].map(([resource, scopes]) => ({ resource, scopes }));
}

export function umaGrant(deps: UmaGrantDeps): Grant<typeof umaTicketBody> {
  const { sql, transact, clients, requesters, decisions, sharing, mint, batch, now } = deps;

  /** @throws OAuthError if the request names no resource server */
  async function serverOf({ realm, body }: Call, ticket: Presented | undefined): Promise<ClientView> {
    const [named] = body.audience ?? [];
    if (ticket && (body.permission?.length ?? 0) > 0)
      throw new OAuthError('invalid_request', 'A ticket says itself what is asked for: send no permission with it');
    if (ticket && named !== undefined && named !== ticket.client_id) throw invalidTicket('another resource server’s');
    const clientId = ticket?.client_id ?? named;
    if (clientId === undefined)
      throw new OAuthError('invalid_request', 'Send a ticket, or the resource server’s clientId as audience');
    const server = await clients.view(realm, clientId);
    if (!server?.enabled || !(await decisions.model(realm, server.id)))
      throw new OAuthError('invalid_target', 'There is no such resource server');
    return server;
  }

  /** The requested permissions, with scopes that the client adds to a ticket's (UMA 2.0 Grant §3.3.1). */
  function askedIn(
    { body, requestedScopes = [] }: Call,
    ticket: Presented | undefined,
  ): RequestedPermission[] | 'theirs' {
    const named = ticket?.permissions ?? (body.permission ?? []).map(permissionOf);
    if (named.length === 0) {
      if (requestedScopes.length > 0) throw new OAuthError('invalid_scope', 'There is no resource to ask scopes of');
      return 'theirs';
    }
    return merged(
      named.map(({ resource, scopes }) => ({
        resource,
        scopes: scopes.length === 0 ? scopes : [...scopes, ...requestedScopes],
      })),
    );
  }

  const decide = ({ call, server, party, ticket }: Case, asked: readonly RequestedPermission[] | 'theirs') =>
    decisions.of(
      call.realm,
      server.id,
      { userId: party.userId, clientId: call.client.clientId, at: now(), context: ticket?.context ?? {} },
      asked,
    );

  /** Decides anew about the permissions of the token that the request brings: those that still hold are included. */
  async function upgraded(of: Case, granted: readonly UmaPermission[]): Promise<UmaPermission[] | undefined> {
    const { call, server, party } = of;
    if (call.body.rpt === undefined) return undefined;
    const before = await ownPermissions(requesters, call, { server, party });
    if (before.length === 0) return undefined;
    const still = await decide(
      { ...of, ticket: undefined },
      before.map(({ rsid, scopes = [] }) => ({ resource: rsid, scopes })),
    );
    const all = [...granted, ...still.permitted];
    return merged(all.map(({ rsid, scopes = [] }) => ({ resource: rsid, scopes }))).map(({ resource, scopes }) => {
      const same = all.filter(({ rsid }) => rsid === resource);
      const shared = [...new Set(same.flatMap((one) => one.shared ?? []))];
      return {
        rsid: resource,
        rsname: same[0]?.rsname ?? resource,
        ...(scopes.length > 0 && { scopes: [...scopes] }),
        ...(shared.length > 0 && { shared }),
      };
    });
  }

  /** Records the event: in the transaction that uses the ticket, or without a ticket in a batch. @throws OAuthError */
  async function used({ call, ticket }: Case, event: DomainEvent, more?: (tx: Tx) => Promise<void>): Promise<void> {
    if (!ticket) return batch.record(event);
    await transact(call.realm, async (tx) => {
      if (!(await takeTicket(tx.sql, call.realm, ticket.hash, now()))) throw invalidTicket('it was used before');
      tx.record(event);
      await more?.(tx);
    });
  }

  const about = ({ call, server, party }: Case, permissions: readonly UmaPermission[]) => ({
    realm: call.realm,
    by: call.by,
    clientId: call.client.clientId,
    subject: party.subject ?? call.by.actor,
    data: { grant: 'uma_ticket', resourceServer: server.clientId, permissions, ...workloadOf(call.who) },
  });

  async function token(of: Case, granted: readonly UmaPermission[], asking: Decision): Promise<Granted> {
    const { call, server, party } = of;
    const more = await upgraded(of, granted);
    const permissions = more ?? granted;
    const minted = await mint.forResourceServer(call.realm, call.client, {
      audience: server.clientId,
      permissions,
      person: party.person,
      cnf: call.cnf,
    });
    const event = about(of, permissions);
    await used(of, { type: 'TOKEN_ISSUED', ...event, data: { ...event.data, jti: minted.jti } }, async (tx) => {
      await submitted(tx, of, asking);
    });
    return { ...minted, ...(more && { upgraded: true as const }) };
  }

  /** Asks the owners for the missing permissions. @returns whether the answer of an owner is awaited */
  async function submitted(tx: Tx, { call, server, party }: Case, { missing }: Decision): Promise<boolean> {
    if (call.body.submit_request !== 'true' || !party.mayRequest) return false;
    return sharing.request(tx, call.realm, call.by, { server, requester: party.mayRequest, missing });
  }

  /** Refuses the request, which uses its ticket up. The client gets a new ticket if asking again can succeed. */
  async function refuse(of: Case, asking: Decision): Promise<never> {
    const { call, server, party, ticket } = of;
    if (!ticket) throw denied('access_denied');
    let refusal: OAuthError | undefined;
    const again = async (tx: Tx) =>
      newTicket(tx.sql, call.realm, {
        client: server.id,
        permissions: ticket.permissions,
        context: ticket.context,
        issuedTo: call.client.id,
        userId: party.userId,
        now: now(),
      });
    const error = denied('request_denied', { audited: true });
    await used(of, refusedEvent(call, call.client.clientId, UMA_TICKET, error), async (tx) => {
      if (await submitted(tx, of, asking)) {
        const more = { ticket: await again(tx), interval: INTERVAL_SECONDS };
        refusal = new OAuthError('request_submitted', 'The owner has been asked', { audited: true, more });
      } else if (!party.person) {
        const required_claims = [{ claim_token_format: [ACCESS_TOKEN_TYPE, ID_TOKEN_FORMAT] }];
        const more = { ticket: await again(tx), required_claims };
        refusal = new OAuthError('need_info', 'Name the requesting person by a claim_token', { audited: true, more });
      }
    });
    throw refusal ?? error;
  }

  return {
    ...umaTerms,
    async authorize(call): Promise<Granted | Answered> {
      const { realm, body, client, resources } = call;
      if (resources.length > 0)
        throw new OAuthError('invalid_target', 'Name the use of the token by audience and permission');
      const party = await requesters.of(call);
      const ticket =
        body.ticket === undefined
          ? undefined
          : await presentedTicket(sql, realm, {
              ticket: body.ticket,
              client: client.id,
              userId: party.userId,
              now: now(),
            });
      const server = await serverOf(call, ticket);
      // A client that needs consent, and an agent, need a token that was issued for this resource server.
      if (party.claims && (client.consentRequired || client.agent) && !isFor(server, party.claims))
        throw new OAuthError('invalid_grant', 'The claim token is not for this resource server');
      const of: Case = { call, server, party, ticket };
      const asking = await decide(of, askedIn(call, ticket));
      const { permitted, missing } = asking;
      if (body.response_mode === 'decision' ? missing.length > 0 || permitted.length === 0 : permitted.length === 0)
        return refuse(of, asking);
      if (body.response_mode === undefined) return token(of, permitted, asking);
      await used(of, { type: 'PERMISSION_GRANTED', ...about(of, permitted) });
      return { answer: body.response_mode === 'decision' ? { result: true } : permitted };
    },
  };
}
