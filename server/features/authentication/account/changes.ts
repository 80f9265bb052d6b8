// Changes on the account page apart from sign-in methods: the user's own data, consents, agents and other sessions. Changes
// of who the user is are steps of a sign-in, so that they need a fresh proof.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { Transact } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import { text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnAgents } from '../../people/agents/own.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { OfflineSessions } from '../../people/sessions/offline.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import type { Prove } from './freshness.ts';
import type { Visit } from './section.ts';
import { accountPath } from './views.ts';

export interface AccountChangesDeps {
  transact: Transact;
  gdpr: Pick<Gdpr, 'revokeConsent'>;
  offline: Pick<OfflineSessions, 'end'>;
  notify: Notify;
  agents: OwnAgents;
  prove: Prove;
  isFresh(session: LiveSession): boolean;
  now: () => Date;
}

/** Steps of a sign-in in which users change their own data. */
const ownChanges: readonly RequiredAction[] = ['UPDATE_PROFILE', 'VERIFY_EMAIL', 'VERIFY_PHONE', 'UPDATE_PASSWORD'];
const Change = z.object({ action: z.string() }).catch({ action: '' });
const Params = z.object({ clientId: z.string().max(1024).catch(''), id: z.uuid().optional().catch(undefined) });

/** After a double click the object is gone already, as the user wanted. */
const unlessGone = (error: unknown) => {
  if (!(error instanceof Problem) || error.code !== 'not-found') throw error;
};

/** The page then shows the agent's present state. */
const asItStands = (error: unknown): false => {
  if (!(error instanceof Problem) || !['not-found', 'wrong-state'].includes(error.code)) throw error;
  return false;
};

export function accountChangeRoutes(app: FastifyInstance, visit: Visit, deps: AccountChangesDeps): void {
  const { transact, gdpr, offline, notify, agents, prove, isFresh, now } = deps;
  const path = '/realms/:realm/account';
  const byOf = ({ ip }: FastifyRequest, { userId, username }: LiveSession): By => ({
    actor: userParty(userId, username),
    ipAddress: ip,
  });
  const agentOf = (request: FastifyRequest, { userId: owner }: LiveSession) => {
    const { id } = Params.parse(request.params);
    return id && { id, owner };
  };
  const post = (
    at: string,
    said: string,
    act: (request: FastifyRequest, realm: string, session: LiveSession) => Promise<void>,
  ) =>
    app.post(`${path}/${at}`, { schema: { hide: true } }, async (request, reply) => {
      const { realm, session } = await visit(request);
      if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
      await act(request, realm, session);
      return reply.redirect(`/realms/${realm}/account?said=${said}`, 303);
    });

  app.post(`${path}/change`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    const { action } = Change.parse(request.body);
    const change = ownChanges.find((one) => one === action);
    if (!change) throw new Problem('invalid-request', text('account.notToSetUp'));
    return prove(request, reply, realm, session, change);
  });

  app.post(`${path}/export`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    if (!isFresh(session)) return prove(request, reply, realm, session);
    return reply.redirect(`/realms/${realm}/account/gdpr/export`, 303);
  });

  post('consents/:clientId/withdraw', 'withdrawn', async (request, realm, session) => {
    const { clientId } = Params.parse(request.params);
    const of = { userId: session.userId, clientId };
    await gdpr.revokeConsent(byOf(request, session), realm, of).catch(unlessGone);
  });

  post('offline/:id/end', 'withdrawn', async (request, realm, session) => {
    const { id } = Params.parse(request.params);
    const one = id && { userId: session.userId, id };
    if (one) await offline.end(realm, byOf(request, session), one, { because: 'self' }).catch(unlessGone);
  });

  post('agents/:id/stop', 'stopped', async (request, realm, session) => {
    const of = agentOf(request, session);
    if (of) await agents.stop(byOf(request, session), realm, of).catch(unlessGone);
  });
  for (const [at, move, said] of [
    ['end', 'revoke', 'agentEnded'],
    ['confirm', 'review', 'agentConfirmed'],
  ] as const)
    app.post(`${path}/agents/:id/${at}`, { schema: { hide: true } }, async (request, reply) => {
      const { realm, session } = await visit(request);
      if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
      if (!isFresh(session)) return prove(request, reply, realm, session);
      const of = agentOf(request, session);
      const moved = of && (await agents.move(byOf(request, session), realm, of, move).then(() => true, asItStands));
      return reply.redirect(moved ? `/realms/${realm}/account?said=${said}` : accountPath(realm, 'applications'), 303);
    });

  post('sessions/end-others', 'others', async (request, realm, session) => {
    const [by, keep] = [byOf(request, session), { sessionId: session.id }];
    const people = [session.userId];
    await transact(realm, async (tx) => {
      await endAccess(tx, realm, { people, cause: 'self', by, at: now(), keep });
      // The mail is sent even if there were no other sessions to end.
      await notify(tx, { realm, by, userId: session.userId, what: 'sessions-ended' });
    });
  });
}
