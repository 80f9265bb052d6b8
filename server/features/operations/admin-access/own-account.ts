// Owns: the way from an admin session to the administrator's own account, without a second sign-in.
// Does not own: the account (features/authentication/account), sessions (features/people/sessions), the page with the button (pages.ts).
// Implements: decisions "Admin authentication".
//
// The admin session began by the realm's own sign-in, so the same user may have the realm's session by the same proofs. The
// new session is no more than that sign-in would have left: the home realm alone, the same factors with their times, counted
// from the admin sign-in, and it ends with the admin session. If the realm asks for more than these factors, its own sign-in
// asks for it.
//
// The browser sends the admin session's cookie only below /admin, and the realm's cookies only below the realm. So the way has
// two steps: a form below /admin, and a page below the realm, which sees whether the browser is signed in there already. A
// ticket joins them. It is in a cookie and not in the address: an address could be sent to another person, who would then act
// in the sender's account.
import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { type Factors, SECOND_FACTOR } from '../../../domain/factors.ts';
import { userParty } from '../../../domain/party.ts';
import type { Principal } from '../../../domain/principal.ts';
import { isWithdrawn, mustHold } from '../../../domain/proof.ts';
import { html } from '../../../http/html.ts';
import { adminAccountPath } from '../../../http/own-addresses.ts';
import { sendPage } from '../../../http/pages.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import { text } from '../../../http/texts.ts';
import { type AccountViewName, accountPath, accountViews } from '../../authentication/account/views.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { LiveSession, PlannedSession, Sessions } from '../../people/sessions/service.ts';
import * as store from './account-store.ts';
import { ADMIN_IDLE_MS } from './service.ts';

const TICKET_SECONDS = 60;

export interface OwnAccountDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  sessions: Pick<Sessions, 'current' | 'plan' | 'begin' | 'makeRoom' | 'end' | 'setCookie'>;
  signIns: Pick<SignIns, 'missing'>;
  credentials: Pick<Credentials, 'standing'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  factors: Pick<Factors, 'haveSecond' | 'amrOf' | 'levelOf'>;
  baseUrl: string;
  now: () => Date;
}

type Opened =
  /** The realm must ask for more, or the ticket is no longer valid. */
  | { do: 'sign-in' }
  /** The browser has the user's own session already. */
  | { do: 'there' }
  /** Another user, or an administrator in another user's name, is signed in there. */
  | { do: 'other'; username: string }
  | { do: 'opened'; planned: PlannedSession };

const ticketCookie = (baseUrl: string) => realmCookie(baseUrl, 'SVC_ADMIN_ACCOUNT');

/** Gives the browser a ticket. @returns the page to go to; undefined: the admin session has ended */
export async function beginOwnAccount(
  reply: FastifyReply,
  { realmSql, baseUrl, now }: Pick<OwnAccountDeps, 'realmSql' | 'baseUrl' | 'now'>,
  { realm, session }: Principal,
  view: AccountViewName,
): Promise<string | undefined> {
  if (!session || !('adminSession' in session)) return undefined;
  const secret = newSecret();
  const ticket = { ticket: sha256(secret), at: now() };
  if (!(await store.putAccountTicket(realmSql(realm), realm, session.adminSession, ticket))) return undefined;
  const cookie = ticketCookie(baseUrl);
  void reply.setCookie(cookie.nameIn(realm), secret, { ...cookie.options(realm), maxAge: TICKET_SECONDS });
  return `${adminAccountPath(realm)}${view === 'profile' ? '' : `?view=${view}`}`;
}

/** The session as if it had begun with the admin session; it ends with it at the latest. */
function within(plan: PlannedSession, { startedAt, expiresAt: until }: store.AccountTicketRow): PlannedSession {
  const { started_at: now, expires_at: end } = plan.row;
  const own = new Date(end.getTime() - (now.getTime() - startedAt.getTime()));
  const expiresAt = own < until ? own : until;
  return {
    ...plan,
    session: { ...plan.session, startedAt, expiresAt },
    row: { ...plan.row, started_at: startedAt, authenticated_at: startedAt, expires_at: expiresAt },
  };
}

/** The session that the ticket opens; undefined: the realm asks for more than the admin sign-in has proven. */
async function planned(
  deps: OwnAccountDeps,
  request: FastifyRequest,
  realm: string,
  found: store.AccountTicketRow,
): Promise<PlannedSession | undefined> {
  const { sessions, signIns, credentials, factors, now } = deps;
  const whole = await sessions.plan(realm, {
    user: { id: found.userId, username: found.username },
    factors: found.factors,
    findings: null,
    proven: { userId: found.userId, credentials: [] },
    rememberMe: false,
    ipAddress: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
  });
  const plan = within(whole, found);
  const standing = await credentials.standing(realm, found.userId);
  if (!standing || plan.session.expiresAt <= now()) return undefined;
  const session: LiveSession = { ...plan.session, standing };
  const requiredLevel = factors.haveSecond(standing.types) ? SECOND_FACTOR : 0;
  const asked = { realm, session, requiredLevel, forced: false, request: null, continueAt: '' };
  return (await signIns.missing(request, asked)) === undefined ? plan : undefined;
}

async function open(deps: OwnAccountDeps, request: FastifyRequest, realm: string, secret: string): Promise<Opened> {
  const { sql, transact, sessions, factors, now } = deps;
  const at = now();
  const asked = {
    ticket: sha256(secret),
    at,
    givenAfter: new Date(at.getTime() - TICKET_SECONDS * 1000),
    seenAfter: new Date(at.getTime() - ADMIN_IDLE_MS),
  };
  const current = await sessions.current(request, realm);
  const found = await store.ofAccountTicket(sql, realm, asked);
  const plan = found && (await planned(deps, request, realm, found));
  const work = async (tx: Tx): Promise<Opened> => {
    if (!found) return { do: 'sign-in' };
    const { userId, username } = found;
    // The user's row is locked first, as everywhere.
    await mustHold(tx.sql, realm, { userId, credentials: [] });
    if (!(await store.useAccountTicket(tx.sql, realm, asked.ticket))) return { do: 'sign-in' };
    if (current?.userId === userId && !current.impersonator) return { do: 'there' };
    if (current) return { do: 'other', username: current.username };
    if (!plan) return { do: 'sign-in' };
    const user = userParty(userId, username);
    const by: By = { actor: user, ipAddress: request.ip };
    if (found.accountSession !== null)
      await sessions.end(tx, realm, by, found.accountSession, { because: 'reauthentication' });
    await sessions.makeRoom(tx, realm, by, { id: userId, username });
    sessions.begin(tx, realm, plan);
    const { id: sessionId } = plan.session;
    await store.putAccountSession(tx.sql, realm, found.id, sessionId);
    const proven = { levelOfAssurance: factors.levelOf(found.factors), methods: factors.amrOf(found.factors) };
    const data = { sessionId, ...proven, reason: 'admin-session' };
    tx.record({ type: 'LOGIN_SUCCESS', realm, by, subject: user, data });
    return { do: 'opened', planned: plan };
  };
  return transact(realm, work, { bookkeeping: true }).catch((error: unknown) => {
    if (isWithdrawn(error)) return { do: 'sign-in' };
    throw error;
  });
}

const Params = z.object({ realm: z.string() });
/** The part of the account to begin with. Any other text leads to the first one. */
export const ViewAsked = z.object({ view: z.enum(accountViews).catch('profile').default('profile') });

/** Mounted below the realm. */
export function ownAccountPage(app: FastifyInstance, deps: OwnAccountDeps): void {
  const cookie = ticketCookie(deps.baseUrl);
  app.get(adminAccountPath(':realm'), { schema: { hide: true } }, async (request, reply) => {
    const { realm } = Params.parse(request.params);
    const { view } = ViewAsked.parse(request.query);
    const brand = await deps.settings.of(realm);
    if (!brand) throw new Problem('not-found', text('admin.noRealm'));
    const secret = request.cookies[cookie.nameIn(realm)];
    if (secret === undefined) return reply.redirect('/admin/login', 303);
    void reply.clearCookie(cookie.nameIn(realm), cookie.options(realm));
    const opened = await open(deps, request, realm, secret);
    if (opened.do === 'sign-in') return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    const account = accountPath(realm, view);
    if (opened.do === 'opened') deps.sessions.setCookie(reply, opened.planned.session, opened.planned.token);
    if (opened.do !== 'other') return reply.redirect(account, 303);
    const body = html`<div class="error" role="alert"><p>${text('admin.otherSession', { name: opened.username, realm: brand.displayName })}</p></div>
<div class="actions"><a class="button full" href="${account}">${text('admin.thatAccount')}</a></div>`;
    return sendPage(reply, { realm, brand, title: text('admin.account'), body }, { status: 409 });
  });
}
