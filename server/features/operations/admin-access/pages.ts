// The pages before an admin session: the administrator chooses a realm, then signs in there (arrival.ts). They need no
// script.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { RealmName } from '../../../contract/names.ts';
import { Problem } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { byPrincipal, type Principal } from '../../../domain/principal.ts';
import { type Html, html } from '../../../http/html.ts';
import { languageOf } from '../../../http/languages.ts';
import { CONSOLE_PATH } from '../../../http/own-addresses.ts';
import { sendPage, wantsPage } from '../../../http/pages.ts';
import { problemOf } from '../../../http/problems.ts';
import { speaksTo } from '../../../http/spoken.ts';
import { text, textHtml } from '../../../http/texts.ts';
import { forgetSession } from './cookies.ts';
import { beginOwnAccount, ViewAsked } from './own-account.ts';
import type { Caller } from './service.ts';
import type { AdminSignIn } from './sign-in.ts';
import { ADMIN_SESSION_COOKIE, csrfHolds, setCsrf } from './surface.ts';

const csrfField = (token: string) => html`<input type="hidden" name="csrf" value="${token}">`;

function realmForm(csrf: string, last: { realm?: string | undefined; problem?: string } = {}): Html {
  return html`
<p class="lead">${text('admin.lead')}</p>
${last.problem !== undefined && html`<p class="error" role="alert">${last.problem}</p>`}
<form method="post" action="/admin/login/form">
${csrfField(csrf)}
<div class="field"><label for="realm">${text('admin.realm')}</label>
<input id="realm" name="realm" type="text" value="${last.realm ?? MASTER}" autocomplete="organization" autocapitalize="none"
 autocorrect="off" spellcheck="false" required autofocus aria-describedby="realm-help">
<p class="hint" id="realm-help">${text('admin.realmHelp', { realm: MASTER })}</p></div>
<button type="submit">${text('admin.continue')}</button>
</form>`;
}

function signedIn(csrf: string, principal: Principal, baseUrl: string): Html {
  const home = principal.realm === MASTER ? '' : ` --realm ${principal.realm}`;
  const over = [...principal.permissions].map(
    ([realm, granted]) =>
      html`<li>${text('admin.permissions', { realm: realm === '*' ? text('admin.everyRealm') : realm, count: granted.size })}</li>`,
  );
  return html`
<p>${textHtml('admin.who', { name: html`<strong>${principal.name}</strong>`, realm: html`<strong>${principal.realm}</strong>` })}</p>
<ul>${over}</ul>
<p>${textHtml('admin.next', { link: html`<a href="/swagger-ui.html">${text('admin.tryApi')}</a>` })}</p>
<p><code class="secret command">realmctl login ${baseUrl}${home}</code></p>
<form method="post" action="/admin/account/form">${csrfField(csrf)}<button type="submit" class="quiet">${text('admin.account')}</button></form>
${signOut(csrf)}`;
}

const signOut = (csrf: string): Html =>
  html`<form method="post" action="/admin/logout/form">${csrfField(csrf)}<button type="submit" class="quiet">${text('admin.signOut')}</button></form>`;

/** The realm's sign-in asks for the missing factors, and lets users set them up. */
const stepUp = (csrf: string, { name, realm }: Principal): Html => html`
<p class="lead">${text('admin.moreToProveLead', { name, realm })}</p>
<form method="post" action="/admin/login/form">
${csrfField(csrf)}
<input type="hidden" name="realm" value="${realm}">
<button type="submit">${text('admin.continue')}</button>
</form>
${signOut(csrf)}`;

/** For a browser without script, which the console leads back here. */
const Plain = z.object({ page: z.literal('plain') });

const Form = z.record(z.string(), z.string());

/** The double-submitted token: a form of another site can't know the cookie's value. */
function submitted(request: FastifyRequest): Record<string, string> {
  const form = Form.safeParse(request.body ?? {}).data;
  if (!form) throw new Problem('invalid-request', text('admin.formUnreadable'));
  if (!csrfHolds(request, form.csrf)) throw new Problem('csrf-mismatch', text('admin.openAgain'));
  return form;
}

/** Mounted outside of the admin surface, because callers have no session yet. */
export function adminLoginPages(
  app: FastifyInstance,
  {
    authenticate,
    signIn,
    realmExists,
    ...deps
  }: {
    authenticate(credential: { cookie: string }): Promise<Caller | undefined>;
    signIn: Pick<AdminSignIn, 'logout'>;
    realmExists(realm: string): Promise<boolean>;
    realmSql: RealmSql;
    baseUrl: string;
    now: () => Date;
  },
): void {
  const { baseUrl } = deps;
  const show = (reply: FastifyReply, title: string, body: Html, status = 200) =>
    sendPage(reply, { title, body, documentTitle: status < 400 ? title : text('signIn.error', { title }) }, { status });
  const cookieOf = (request: FastifyRequest) => request.cookies[ADMIN_SESSION_COOKIE];

  // Before the user chooses a realm, only the browser's Accept-Language decides the language.
  speaksTo(app, {
    settings: { of: async () => undefined },
    languages: { of: (_, tag) => languageOf(tag) },
    baseUrl,
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.status >= 500) request.log.error({ err: error }, 'the admin sign-in page failed');
    if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
    const { realm } = Form.safeParse(request.body).data ?? {};
    const last = { realm, problem: problem.detail ?? problem.message };
    return show(reply, text('admin.title'), realmForm(setCsrf(reply, baseUrl), last), problem.status);
  });

  app.get('/admin', { schema: { hide: true } }, async (request, reply) =>
    wantsPage(request) ? reply.header('vary', 'Accept').redirect('/admin/login', 303) : reply.callNotFound(),
  );

  app.get('/admin/login', { schema: { hide: true } }, async (request, reply) => {
    const cookie = cookieOf(request);
    const caller = cookie === undefined ? undefined : await authenticate({ cookie });
    const csrf = setCsrf(reply, baseUrl);
    if (!caller) return show(reply, text('admin.title'), realmForm(csrf));
    const { principal, moreToProve } = caller;
    if (moreToProve) return show(reply, text('admin.moreToProve'), stepUp(csrf, principal));
    if (!Plain.safeParse(request.query).success) return reply.redirect(`${CONSOLE_PATH}/`, 303);
    return show(reply, text('admin.signedIn'), signedIn(csrf, principal, baseUrl));
  });

  app.post('/admin/login/form', { schema: { hide: true } }, async (request, reply) => {
    const { realm = '' } = submitted(request);
    if (!RealmName.safeParse(realm).success || !(await realmExists(realm)))
      throw new Problem('invalid-request', text('admin.noRealm'));
    return reply.redirect(`/realms/${realm}/login?for=admin`, 303);
  });

  app.post('/admin/account/form', { schema: { hide: true } }, async (request, reply) => {
    const { view } = ViewAsked.parse(submitted(request));
    const cookie = cookieOf(request);
    const caller = cookie === undefined ? undefined : await authenticate({ cookie });
    // The page asks to sign in, or for the factor that is missing.
    if (!caller || caller.moreToProve) return reply.redirect('/admin/login', 303);
    return reply.redirect((await beginOwnAccount(reply, deps, caller.principal, view)) ?? '/admin/login', 303);
  });

  app.post('/admin/logout/form', { schema: { hide: true } }, async (request, reply) => {
    submitted(request);
    const cookie = cookieOf(request);
    const caller = cookie === undefined ? undefined : await authenticate({ cookie });
    if (caller) await signIn.logout(caller.principal.realm, byPrincipal(caller.principal, request.ip), cookie);
    forgetSession(reply, baseUrl);
    return reply.redirect('/admin/login', 303);
  });
}
