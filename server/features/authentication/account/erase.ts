// Deleting one's own account: it needs a fresh proof, and a confirmation on a page that names what is deleted.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { errorNote, invalidState } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { LiveSession, Sessions } from '../../people/sessions/service.ts';
import type { SignIns } from '../sign-in/service.ts';
import type { Prove } from './freshness.ts';
import { csrfOf } from './holder.ts';
import type { Visit } from './section.ts';

export interface EraseDeps {
  gdpr: Pick<Gdpr, 'eraseOneself'>;
  sessions: Pick<Sessions, 'clearCookie'>;
  signIns: Pick<SignIns, 'leave'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  prove: Prove;
  isFresh(session: LiveSession): boolean;
  erasures: Pick<RateLimit, 'take'>;
}

/**
 * The most accounts that one client address may delete in a minute, by the page or the API: each erasure rewrites all audit
 * events of the user.
 */
export const ERASURES_A_MINUTE = 10;

const Form = z.looseObject({ username: z.string().max(255).optional() });

export function eraseRoute(app: FastifyInstance, visit: Visit, deps: EraseDeps): void {
  app.post('/realms/:realm/account/erase', { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    if (!deps.isFresh(session)) return deps.prove(request, reply, realm, session);
    const look = { realm, brand: await deps.settings.of(realm), plain: true };
    const { username } = Form.parse(request.body);
    if (username?.trim() !== session.username) {
      const body = confirmPage(realm, session, username !== undefined);
      return sendPage(reply, { ...look, title: text('account.eraseTitle'), body });
    }
    const retryAfterSeconds = deps.erasures.take(inRealm(realm, request.ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', text('register.tooMany'), { retryAfterSeconds });
    await deps.gdpr.eraseOneself(realm, session.userId);
    deps.sessions.clearCookie(reply, realm);
    await deps.signIns.leave(request, reply, realm);
    const body = html`<p class="lead" role="status">${text('logout.close')}</p>`;
    return sendPage(reply, { ...look, title: text('account.erased'), body });
  });
}

const confirmPage = (realm: string, session: LiveSession, wrong: boolean): Html => {
  const bad = wrong && invalidState('username');
  return html`<p>${text('account.eraseLead')}</p>
<form method="post" action="/realms/${realm}/account/erase"><input type="hidden" name="csrf" value="${csrfOf(session)}">
<div class="field"><label for="username">${text('account.eraseName', { username: session.username })}</label>
<input type="text" id="username" name="username" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
 maxlength="255" required autofocus${bad}>
${wrong && errorNote('username', text('account.eraseWrong'))}</div>
<div class="actions"><button class="danger">${text('account.erase')}</button>
<a class="button quiet" href="/realms/${realm}/account">${text('signIn.toAccount')}</a></div></form>`;
};
