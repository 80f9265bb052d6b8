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
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { actorOf } from '../../../domain/session.ts';
import { wantsPage } from '../../../http/pages.ts';
import { plainText, text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnAgents } from '../../people/agents/own.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { OfflineSessions } from '../../people/sessions/offline.ts';
import type { Sessions, SsoSession } from '../../people/sessions/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { OwnProfiles } from '../../people/users/own-profile.ts';
import type { SignIns } from '../sign-in/service.ts';
import { accountChangeRoutes } from './changes.ts';
import { eraseRoute } from './erase.ts';
import { createFreshness } from './freshness.ts';
import { csrfOf } from './holder.ts';
import type { MayHavePassword } from './own-password.ts';
import { sendAccount, sendSignedOut } from './pages.ts';
import type { AccountSection } from './section.ts';
import { toldActivities } from './sections.ts';
import { PASSWORD, signInMethodRoutes } from './sign-in-methods.ts';
import * as store from './store.ts';
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

export interface AccountDeps {
  sql: Sql;
  transact: Transact;
  sessions: Sessions;
  factors: Factors;
  credentials: Pick<Credentials, 'list' | 'remove'>;
  waysLeft: WaysLeft;
  mayHavePassword: MayHavePassword;
  profiles: Pick<OwnProfiles, 'read' | 'fields'>;
  emails: Pick<OwnEmails, 'of'>;
  offline: OfflineSessions;
  gdpr: Pick<Gdpr, 'consents' | 'revokeConsent' | 'eraseOneself'>;
  notify: Notify;
  agents: OwnAgents;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** Sections of other features. */
  sections: readonly AccountSection[];
  signIns: Pick<SignIns, 'begin' | 'leave'>;
  logout: SignOut;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  /** The limit of erasures by client address. */
  erasures: Pick<RateLimit, 'take'>;
  now: () => Date;
}

const words = {
  ended: 'account.sessionEnded',
  removed: 'account.removed',
  kept: 'account.kept',
  withdrawn: 'account.withdrawn',
  stopped: 'account.stopped',
  agentEnded: 'account.agentEnded',
  agentConfirmed: 'account.agentConfirmed',
  others: 'account.othersEnded',
  shared: 'sharing.said',
  answered: 'sharing.answered',
  unshared: 'sharing.ended',
  forgotten: 'browsers.forgotten',
  connected: 'identities.connected',
  notConnected: 'identities.notConnected',
} as const;
const SHOWN = 100;
const ACTIVITIES = 20;
const Query = z.object({
  said: z
    .enum(Object.keys(words) as (keyof typeof words)[])
    .optional()
    .catch(undefined),
  /** Show events older than this one; empty: from the newest. */
  activity: z.uuid().or(z.literal('')).optional().catch(undefined),
});
// A value that is no id names no session.
const Params = z.object({ realm: z.string(), id: z.uuid().optional().catch(undefined) });
const Form = z.looseObject({ csrf: z.string().max(200) });

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  const { sql, transact, sessions, factors, credentials, settings, now } = deps;
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
    const mine = (await sessions.list(realm, { userId: session.userId, limit: SHOWN })).slice(0, SHOWN);
    const { userId } = session;
    const { said, activity } = Query.parse(request.query);
    const before = activity === '' ? undefined : activity;
    const [{ shown, inputs }, person, address, applications, agreed, offline, agents, happened, mails, own, usable] =
      await Promise.all([
        deps.profiles.fields(realm),
        deps.profiles.read(realm, userId),
        deps.emails.of(realm, userId),
        store.applicationsOf(sql, realm, userId),
        deps.gdpr.consents(realm, userId),
        deps.offline.list(realm, userId, { limit: SHOWN }),
        deps.agents.list(realm, userId),
        store.activityOf(sql, realm, userId, { types: toldActivities, before, limit: ACTIVITIES + 1 }),
        deps.sends(realm, 'EMAIL'),
        credentials.list(realm, userId),
        store.usedAuthenticators(sql, realm),
      ]);
    const named = [
      ...[...agreed, ...offline].map(({ clientId }) => clientId),
      ...happened.flatMap(({ clientId }) => clientId ?? []),
    ];
    const clientIds = [...new Set([...mine.flatMap(({ clients }) => clients), ...named])];
    const allowed = [...new Set([...agreed, ...offline].flatMap(({ scopes }) => scopes))];
    const [titles, scopes] = await Promise.all([
      store.clientTitles(sql, realm, clientIds),
      allowed.length > 0 ? store.scopeDescriptions(sql, realm, allowed) : [],
    ]);
    const values = new Map(Object.entries(person?.attributes ?? {}));
    const has = own.some(({ type }) => type === PASSWORD);
    const isUnconfirmed = address.email !== null && !address.verified;
    const mayMail = mails && (address.mayChange || isUnconfirmed);
    const emailWords = isUnconfirmed ? text('account.confirmEmail') : text('account.changeEmail');
    const passwordWords = has ? text('account.changePassword') : text('account.setPassword');
    const changes = [
      ...(inputs.length > 0 ? [{ action: 'UPDATE_PROFILE' as const, words: text('account.changeProfile') }] : []),
      ...(mayMail ? [{ action: 'VERIFY_EMAIL' as const, words: emailWords }] : []),
      ...((await deps.mayHavePassword(realm, userId, { has }))
        ? [{ action: 'UPDATE_PASSWORD' as const, words: passwordWords }]
        : []),
    ];
    return sendAccount(reply, {
      realm,
      settings: policy,
      profile,
      isUnconfirmed,
      sessions: mine,
      titles: new Map(titles),
      scopes: new Map(scopes),
      now: now(),
      currentId: session.id,
      csrf: csrfOf(session),
      acting: session.impersonator && { name: session.impersonator.name, until: session.expiresAt },
      said: said && plainText(words[said]),
      attributes: shown.map(({ name, label }) => [label, values.get(name) ?? []] as const),
      changes: session.impersonator ? [] : changes,
      applications,
      consents: agreed,
      offline,
      agents,
      activity: {
        rows: happened.slice(0, ACTIVITIES),
        isOlder: activity !== undefined,
        next: happened.length > ACTIVITIES ? happened[ACTIVITIES - 1]?.oldest : undefined,
      },
      sections: deps.sections.map(
        ({ show }) =>
          (parts) =>
            show(realm, session, parts),
      ),
      credentials: own,
      kinds: factors.kinds,
      usable,
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
