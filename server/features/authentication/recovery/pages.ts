// The pages of a forgotten password: enter a name, look into the mail, choose a new password, done.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { errorNote, type FieldFault, faultsOf, invalidState } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { passwordFields } from '../../../http/password-fields.ts';
import { passwordScript } from '../../../http/password-script.ts';
import { text } from '../../../http/texts.ts';
import { LINK_MINUTES } from './service.ts';

export interface RecoveryPage {
  realm: string;
  settings: RealmSettingsDto;
  /** The request that the user was signing in for, as the sign-in's forms carry it. */
  asked: string | undefined;
  /** The address of the sign-in page. */
  signIn: string;
}

const NAME_MAX = 255;
const hidden = (name: string, value: string | undefined): Html | false =>
  value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`;

export function sendForgot(
  reply: FastifyReply,
  { realm, settings, asked, signIn }: RecoveryPage,
  { name = '', missing = false }: { name?: string; missing?: boolean } = {},
): FastifyReply {
  const title = text('recover.title');
  const bad = missing && invalidState('username');
  const body = html`<p class="lead">${text('recover.lead')}</p>
<form method="post" action="/realms/${realm}/login/forgot" novalidate>
${hidden('asked', asked)}
<div class="field">
<label for="username">${text('password.username')}</label>
<input type="text" id="username" name="username" value="${name}" maxlength="${NAME_MAX}" autocomplete="username"
 autocapitalize="none" autocorrect="off" spellcheck="false" required autofocus${bad}>
${missing && errorNote('username', text('link.nameMissing'))}
</div>
<button>${text('link.submit')}</button>
</form>
<div class="more"><a href="${signIn}">${text('recover.back')}</a></div>`;
  const documentTitle = missing ? text('signIn.error', { title }) : title;
  return sendPage(reply, { realm, brand: settings, title, documentTitle, body });
}

export function sendLookIntoMail(reply: FastifyReply, { realm, settings, signIn }: RecoveryPage): FastifyReply {
  const body = html`<p class="lead" role="status">${text('recover.sent', { minutes: LINK_MINUTES })}</p>
<p class="hint">${text('recover.sentHint')}</p>
<div class="actions"><a class="button full" href="${signIn}">${text('recover.back')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('link.waiting'), body });
}

export function sendChoose(
  reply: FastifyReply,
  { realm, settings }: Pick<RecoveryPage, 'realm' | 'settings'>,
  { token, username, faults = [] }: { token: string; username: string; faults?: readonly FieldFault[] },
): FastifyReply {
  const title = text('newPassword.title');
  const fields = passwordFields(settings, { faults: faultsOf(undefined, faults) });
  const body = html`<p class="lead">${text('recover.choose', { username })}</p>
<form method="post" action="/realms/${realm}/login/reset" novalidate>
${hidden('token', token)}
<input class="hidden" type="text" name="username" value="${username}" autocomplete="username" tabindex="-1" aria-hidden="true" readonly>
${fields}
<button>${text('recover.save')}</button>
</form>`;
  const documentTitle = faults.length > 0 ? text('signIn.error', { title }) : title;
  return sendPage(reply, { realm, brand: settings, title, documentTitle, body, plain: true, script: passwordScript });
}

export function sendOver(
  reply: FastifyReply,
  { realm, settings }: Pick<RecoveryPage, 'realm' | 'settings'>,
): FastifyReply {
  const body = html`<p role="alert">${text('recover.over')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login/forgot">${text('recover.again')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('link.useless'), body }, { status: 400 });
}

export function sendChanged(reply: FastifyReply, { realm, settings, signIn }: RecoveryPage): FastifyReply {
  const body = html`<p class="lead" role="status">${text('recover.changed')}</p>
<div class="actions"><a class="button full" href="${signIn}">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('recover.changedTitle'), body });
}
