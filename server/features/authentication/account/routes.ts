// Owns: the account page of a realm and its actions: ending one's sessions, signing out.
// Does not own: sessions (features/people/sessions), signing in (features/authentication/sign-in).
// Implements: specification 5 rule 3 (a user's own session); decisions "Protocol paths".

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { sameSecret } from '../../../crypto/tokens.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { actorOf } from '../../../domain/session.ts';
import { siteOf } from '../../../domain/site.ts';
import { wantsPage } from '../../../http/pages.ts';
import { type PlainKey, plainText, text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnAgents } from '../../people/agents/own.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { OfflineSessions } from '../../people/sessions/offline.ts';
import type { Sessions, SsoSession } from '../../people/sessions/service.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { SignIns } from '../sign-in/service.ts';
import { browserRoute } from './browsers.ts';
import { accountChangeRoutes } from './changes.ts';
import { type ContentDeps, createContents } from './contents.ts';
import { eraseRoute } from './erase.ts';
import { createFreshness } from './freshness.ts';
import { csrfOf } from './holder.ts';
import { partsOf, sendAccount, sendSignedOut, viewsFor } from './pages.ts';
import { signInMethodRoutes } from './sign-in-methods.ts';
import * as store from './store.ts';
import { type AccountViewName, accountViews } from './views.ts';
import type { WaysLeft } from './ways-left.ts';

/** Signs the user out. Applications learn of it through the browser (features/protocol/logout). */
export interface SignOut {
  /** @returns undefined: no application needs the browser, and no page was sent */
  signOut(
    request: FastifyRequest,
    reply: FastifyReply,
    realm: string,
    session: SsoSession,
  ): Promise<FastifyReply | undefined>;
}

export interface AccountDeps extends ContentDeps {
  baseUrl: string;
  transact: Transact;
  sessions: Sessions;
  factors: Factors;
  credentials: Pick<Credentials, 'list' | 'remove'>;
  waysLeft: WaysLeft;
  browsers: Pick<Browsers, 'list' | 'forget'>;
  offline: OfflineSessions;
  gdpr: Pick<Gdpr, 'consents' | 'revokeConsent' | 'eraseOneself'>;
  notify: Notify;
  agents: OwnAgents;
  signIns: Pick<SignIns, 'begin' | 'leave'>;
  logout: SignOut;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  /** The limit of erasures by client address. */
  erasures: Pick<RateLimit, 'take'>;
}

/** What an action did, by the name in the address that it leads to; and the view that shows the effect. */
const outcomes = {
  ended: { words: 'account.sessionEnded', view: 'devices' },
  removed: { words: 'account.removed', view: 'security' },
  kept: { words: 'account.kept', view: 'security' },
  added: { words: 'account.added', view: 'security' },
  passwordSaved: { words: 'account.passwordSaved', view: 'security' },
  changed: { words: 'account.changed', view: 'profile' },
  withdrawn: { words: 'account.withdrawn', view: 'applications' },
  stopped: { words: 'account.stopped', view: 'applications' },
  agentEnded: { words: 'account.agentEnded', view: 'applications' },
  agentConfirmed: { words: 'account.agentConfirmed', view: 'applications' },
  others: { words: 'account.othersEnded', view: 'devices' },
  shared: { words: 'sharing.said', view: 'applications' },
  answered: { words: 'sharing.answered', view: 'applications' },
  unshared: { words: 'sharing.ended', view: 'applications' },
  forgotten: { words: 'browsers.forgotten', view: 'devices' },
  connected: { words: 'identities.connected', view: 'security' },
  notConnected: { words: 'identities.notConnected', view: 'security' },
} as const satisfies Record<string, { words: PlainKey; view: AccountViewName }>;
const Query = z.object({
  view: z.enum(accountViews).optional().catch(undefined),
  said: z
    .enum(Object.keys(outcomes) as (keyof typeof outcomes)[])
    .optional()
    .catch(undefined),
  /** Show events older than this one; empty: from the newest. */
  activity: z.uuid().or(z.literal('')).optional().catch(undefined),
});
// A value that is no id names no session.
const Params = z.object({ realm: z.string(), id: z.uuid().optional().catch(undefined) });
const Form = z.looseObject({ csrf: z.string().max(200) });

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const { sql, transact, sessions, factors, settings, now } = deps;
  const contentOf = createContents(deps);
  const byOf = (request: FastifyRequest, session: SsoSession): By => ({
    actor: actorOf(session),
    ipAddress: request.ip,
  });

  async function visit(request: FastifyRequest) {
    const { realm, id } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    return { realm, id, policy, session: await sessions.current(request, realm) };
  }
  function checkForm(request: FastifyRequest, session: SsoSession): void {
    const form = Form.safeParse(request.body);
    if (!form.success || !sameSecret(form.data.csrf, csrfOf(session)))
      throw new Problem('csrf-mismatch', text('account.outdated'));
  }
  /** An impersonated session may only sign out here; everything else is for the user alone. */
  function check(request: FastifyRequest, session: SsoSession): void {
    checkForm(request, session);
    if (session.impersonator) throw new Problem('forbidden', text('account.notForOthers'));
  }

  // The issuer's own address, for people who open it in a browser. Programs get a 404.
  app.get('/realms/:realm', { schema: { hide: true } }, async (request, reply) => {
    if (!wantsPage(request)) return reply.callNotFound();
    // The name is not validated yet, so it may be no realm's.
    const realm = encodeURIComponent(Params.parse(request.params).realm);
    return reply.header('vary', 'Accept').redirect(`/realms/${realm}/account`, 303);
  });

  const path = '/realms/:realm/account';
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy, session } = await visit(request);
    const profile = session && (await store.profile(sql, realm, session.userId));
    if (!session || !profile) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    const { said, activity, view } = Query.parse(request.query);
    const wanted = view ?? (said && outcomes[said].view) ?? (activity === undefined ? 'profile' : 'activity');
    const mayChange = !session.impersonator;
    const current = viewsFor(mayChange).find((one) => one === wanted) ?? 'profile';
    const parts = partsOf(realm, { csrf: csrfOf(session), mayChange, now: now() });
    const site = siteOf(request, policy, deps.baseUrl);
    const content = await contentOf(current, { realm, settings: policy, session, profile, activity, parts, site });
    return sendAccount(reply, {
      realm,
      settings: policy,
      profile,
      current,
      content,
      parts,
      said: said && plainText(outcomes[said].words),
    });
  });

  const fresh = createFreshness({ factors, signIns: deps.signIns, now });
  const ofTheirs = async (request: FastifyRequest) => {
    const { realm, session } = await visit(request);
    if (session) check(request, session);
    return { realm, session };
  };
  signInMethodRoutes(app, ofTheirs, { ...deps, ...fresh });
  accountChangeRoutes(app, ofTheirs, { ...deps, ...fresh });
  eraseRoute(app, ofTheirs, { ...deps, ...fresh });
  browserRoute(app, ofTheirs, { ...deps, ...fresh });
  for (const section of deps.sections) section.mount(app, ofTheirs, fresh);

  app.post(`${path}/sessions/:id/end`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, id, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    check(request, session);
    await transact(realm, async (tx) => {
      const other = id && (await sessions.byId(realm, id, tx.sql));
      // Another user's session is answered like a missing one.
      if (other && other.userId === session.userId)
        await sessions.end(tx, realm, byOf(request, session), other.id, { because: 'self' });
    });
    return reply.redirect(`/realms/${realm}/account?said=ended`, 303);
  });

  app.post(`${path}/sign-out`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy, session } = await visit(request);
    if (session) {
      checkForm(request, session);
      const answer = await deps.logout.signOut(request, reply, realm, session);
      if (answer) return answer;
    } else {
      sessions.clearCookie(reply, realm);
      await deps.signIns.leave(request, reply, realm);
    }
    return sendSignedOut(reply, realm, policy);
  });
}
