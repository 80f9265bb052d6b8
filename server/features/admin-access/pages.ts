// The browser's way to an admin session: a form without a script. It decides nothing; sign-in.ts does.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AdminLogin } from '../../contract/admin-access.ts';
import { Problem } from '../../contract/problem.ts';
import { MASTER } from '../../contract/realms.ts';
import { sameSecret } from '../../crypto/tokens.ts';
import { ADMIN_SESSION_COOKIE, CSRF_COOKIE, setCsrf } from '../../http/admin.ts';
import { type Html, html } from '../../http/html.ts';
import { sendPage, wantsPage } from '../../http/pages.ts';
import { byPrincipal, type Principal } from '../../http/principal.ts';
import { problemOf } from '../../http/problems.ts';
import { forgetSession, setSession } from './cookies.ts';
import type { AdminSignIn } from './sign-in.ts';

const csrfField = (token: string) => html`<input type="hidden" name="csrf" value="${token}">`;

const field = (id: string, label: string, attributes: Html) =>
  html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${id}" ${attributes}></div>`;

/** A realm's sign-in that the words send a person to is a link, which leads back here. */
const REALM_LOGIN = /(\/realms\/[a-z0-9-]+\/login)/;
const linked = (words: string): Html[] =>
  words
    .split(REALM_LOGIN)
    .map((part, i) => (i % 2 === 1 ? html`<a href="${part}?for=admin">${part}</a>` : html`${part}`));

const alert = (problem: string | undefined) =>
  problem !== undefined && html`<p class="error" role="alert">${linked(problem)}</p>`;

function signInForm(csrf: string, last: { username?: string; realm?: string; problem?: string } = {}): Html {
  const focus = html`autofocus`;
  const plain = html`autocapitalize="none" autocorrect="off" spellcheck="false" required`;
  return html`
<p class="lead">Sign in with an account that holds admin roles.</p>
${alert(last.problem)}
<form method="post" action="/admin/login/form">
${csrfField(csrf)}
${field('realm', 'Realm', html`type="text" value="${last.realm ?? 'master'}" autocomplete="organization" ${plain}`)}
${field('username', 'Username', html`type="text" value="${last.username}" autocomplete="username" ${!last.username && focus} ${plain}`)}
${field('password', 'Password', html`type="password" autocomplete="current-password" ${!!last.username && focus} required`)}
${field('otp', 'One-time code, if you have one', html`type="text" inputmode="numeric" pattern="[0-9]{6,8}" autocomplete="one-time-code"`)}
<button type="submit">Sign in</button>
</form>`;
}

function signedIn(csrf: string, principal: Principal, baseUrl: string): Html {
  const home = principal.realm === MASTER ? '' : ` --realm ${principal.realm}`;
  const over = [...principal.permissions].map(
    ([realm, held]) => html`<li>${realm === '*' ? 'every realm' : realm}: ${held.size} permissions</li>`,
  );
  return html`
<p>You are <strong>${principal.name}</strong> of the realm <strong>${principal.realm}</strong>, with admin roles over</p>
<ul>${over}</ul>
<p><a href="/swagger-ui.html">Try the admin API</a> in this session, or sign in from a terminal:</p>
<p><code class="secret">realmctl login ${baseUrl}${home}</code></p>
<form method="post" action="/admin/logout/form">${csrfField(csrf)}<button type="submit" class="quiet">Sign out</button></form>`;
}

/** The API's words speak of its fields. */
const NEEDS_CODE = 'A one-time code is needed: enter it, with your password.';

const Form = z.record(z.string(), z.string());

/** The double-submitted token: a form of another site can't know the cookie's value. */
function submitted(request: FastifyRequest): Record<string, string> {
  const form = Form.safeParse(request.body ?? {}).data;
  if (!form) throw new Problem('invalid-request', 'The form could not be read');
  const cookie = request.cookies[CSRF_COOKIE];
  if (!cookie || !sameSecret(form.csrf ?? '', cookie)) throw new Problem('csrf-mismatch', 'Open the page again');
  return form;
}

/** Mounted apart from the admin surface: it is there for whoever has no session yet. */
export function adminLoginPages(
  app: FastifyInstance,
  {
    authenticate,
    signIn,
    baseUrl,
  }: {
    authenticate(credential: { cookie: string }): Promise<Principal | undefined>;
    signIn: AdminSignIn;
    baseUrl: string;
  },
): void {
  const show = (reply: FastifyReply, title: string, body: Html, status = 200) =>
    sendPage(reply, { title, body, documentTitle: status < 400 ? title : `Error: ${title}` }, { status });
  const cookieOf = (request: FastifyRequest) => request.cookies[ADMIN_SESSION_COOKIE];

  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.status >= 500) request.log.error({ err: error }, 'the admin sign-in page failed');
    if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
    const form = Form.safeParse(request.body).data ?? {};
    const last = {
      ...(form.username ? { username: form.username } : {}),
      ...(form.realm ? { realm: form.realm } : {}),
      problem: problem.code === 'otp-required' ? NEEDS_CODE : (problem.detail ?? problem.message),
    };
    return show(reply, 'Administration', signInForm(setCsrf(reply, baseUrl), last), problem.status);
  });

  app.get('/admin', { schema: { hide: true } }, async (request, reply) =>
    wantsPage(request) ? reply.header('vary', 'Accept').redirect('/admin/login', 303) : reply.callNotFound(),
  );

  app.get('/admin/login', { schema: { hide: true } }, async (request, reply) => {
    const cookie = cookieOf(request);
    const principal = cookie === undefined ? undefined : await authenticate({ cookie });
    const csrf = setCsrf(reply, baseUrl);
    return principal
      ? show(reply, 'Signed in', signedIn(csrf, principal, baseUrl))
      : show(reply, 'Administration', signInForm(csrf));
  });

  app.post('/admin/login/form', { schema: { hide: true } }, async (request, reply) => {
    const { csrf: _, ...entries } = submitted(request);
    const filled = Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== ''));
    const login = AdminLogin.safeParse(filled);
    if (!login.success) throw new Problem('invalid-request', 'Fill in the realm, your username and your password');
    const by = { actor: null, ipAddress: request.ip };
    const { cookie } = await signIn.login(login.data, by, cookieOf(request));
    setSession(reply, baseUrl, cookie);
    return reply.redirect('/admin/login', 303);
  });

  app.post('/admin/logout/form', { schema: { hide: true } }, async (request, reply) => {
    submitted(request);
    const cookie = cookieOf(request);
    const principal = cookie === undefined ? undefined : await authenticate({ cookie });
    if (principal) await signIn.logout(principal.realm, byPrincipal(principal, request.ip), cookie);
    forgetSession(reply, baseUrl);
    return reply.redirect('/admin/login', 303);
  });
}
