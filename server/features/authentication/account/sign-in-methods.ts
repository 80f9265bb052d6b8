// The user's credentials on the account page: listing, setting up and removing them. Both changes need a fresh proof, so
// that another person at an open browser can't take the account over.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { Credential } from '../../../contract/users.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { Factors } from '../../../domain/factors.ts';
import { userParty } from '../../../domain/party.ts';
import { type Html, html } from '../../../http/pages.ts';
import { text, textHtml, translated } from '../../../http/texts.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { USER_CODE } from '../../people/credentials/user-codes.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import type { Prove } from './freshness.ts';
import type { Visit } from './section.ts';
import type { SectionParts } from './sections.ts';
import type { WaysLeft } from './ways-left.ts';

export interface SignInMethodsDeps {
  transact: Transact;
  factors: Pick<Factors, 'kinds'>;
  credentials: Pick<Credentials, 'remove'>;
  waysLeft: WaysLeft;
  prove: Prove;
  isFresh(session: LiveSession): boolean;
}

/** A password can be changed here, not removed. */
export const PASSWORD = 'password';
const Params = z.object({ type: z.string(), id: z.uuid() });
const Wanted = z.object({ action: z.string() }).catch({ action: '' });

export function signInMethodRoutes(app: FastifyInstance, visit: Visit, deps: SignInMethodsDeps): void {
  const { transact, factors, credentials, waysLeft, prove, isFresh } = deps;
  const path = '/realms/:realm/account/credentials';

  app.post(`${path}/set-up`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    const { action } = Wanted.parse(request.body);
    const kind = factors.kinds.find(({ setUpBy }) => setUpBy === action);
    if (!kind?.setUpBy) throw new Problem('invalid-request', text('account.notToSetUp'));
    return prove(request, reply, realm, session, kind.setUpBy);
  });

  app.post(`${path}/:type/:id/remove`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    if (!isFresh(session)) return prove(request, reply, realm, session);
    const { type, id } = Params.parse(request.params);
    const { userId, username: name } = session;
    const by = { actor: userParty(userId, name), ipAddress: request.ip } as const;
    const user = { id: userId, username: name };
    const work = async (tx: Tx): Promise<boolean> => {
      if (type === PASSWORD || !(await waysLeft(tx.sql, realm, userId, id))) return false;
      return credentials.remove(tx, by, realm, user, { type, id, keep: { sessionId: session.id } });
    };
    // Bookkeeping: a lock counts as a write, and it is the only one if the last way to sign in must stay.
    const removed = await transact(realm, work, { bookkeeping: true });
    return reply.redirect(`/realms/${realm}/account?said=${removed ? 'removed' : 'kept'}`, 303);
  });
}

export interface MethodsView {
  credentials: readonly Credential[];
  kinds: Factors['kinds'];
  /** The authenticators of the realm's flows: others would never be asked for. */
  usable: ReadonlySet<string>;
  /** Whether the user may choose a password here. */
  password: boolean;
}

/** A passkey comes first: of these it is the safest and the easiest to use. */
const FIRST: RequiredAction = 'CONFIGURE_PASSKEY';

/** The section of the account page. */
export const methodsSection = (
  { credentials, kinds, usable, password }: MethodsView,
  { post, time, mayChange }: SectionParts,
): Html => {
  const nameOf = (type: string) =>
    translated(type === USER_CODE ? phrase('userCode') : (kinds.find((kind) => kind.type === type)?.name ?? type));
  const more = ({ backedUp, codesLeft: left, reported, authenticator }: Credential): string => {
    if (authenticator && authenticator.statuses.length > 0) return text('account.methodDistrusted');
    if (reported) return text('account.methodReported');
    if (left !== undefined) return text('account.methodCodesLeft', { left });
    if (backedUp === undefined) return '';
    return backedUp ? text('account.methodBackedUp') : text('account.methodOnOneDevice');
  };
  const action = (path: string, name: RequiredAction, words: string) =>
    post(path, html`<input type="hidden" name="action" value="${name}"><button class="quiet">${words}</button>`);
  const choosePassword = (words: string): Html[] =>
    mayChange && password ? [action('change', 'UPDATE_PASSWORD', words)] : [];
  const remove = (one: Credential): Html | false =>
    mayChange &&
    post(
      `credentials/${one.type}/${one.id}/remove`,
      html`<button class="quiet">${text('account.removeMethod')}<span class="hidden"> ${nameOf(one.type)} ${one.label}</span></button>`,
    );
  const ways = kinds
    .flatMap(({ name, setUpBy, authenticator }) =>
      setUpBy && usable.has(authenticator) ? [{ setUpBy, words: translated(name) }] : [],
    )
    .sort((a, b) => Number(b.setUpBy === FIRST) - Number(a.setUpBy === FIRST))
    .map(({ setUpBy, words }) => action('credentials/set-up', setUpBy, words));
  const all = credentials.some(({ type }) => type === PASSWORD)
    ? ways
    : [...ways, ...choosePassword(text('account.setPassword'))];
  return html`<h2>${text('account.methods')}</h2>
<ul class="rows">
${credentials.map(
  (one) => html`<li>
<div><strong>${nameOf(one.type)}</strong>${one.label && html` <span class="soft">${one.label}</span>`}
${one.authenticator?.name && html`<div class="soft"><bdi>${one.authenticator.name}</bdi></div>`}
<div class="soft">${textHtml('account.methodAdded', { when: time(one.createdAt) })}${more(one)}</div>
${one.lastUsedAt !== null && html`<div class="soft">${textHtml('account.methodLastUsed', { when: time(one.lastUsedAt) })}</div>`}</div>
${one.type === PASSWORD ? choosePassword(text('account.changePassword')) : remove(one)}
</li>`,
)}
</ul>
${
  mayChange &&
  all.length > 0 &&
  html`<details class="menu"><summary class="button">${text('account.addWay')}</summary>
<div class="ways">
${all}
</div></details>`
}`;
};
