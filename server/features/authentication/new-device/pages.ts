// The pages on which a user reports a sign-in as not theirs.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';

interface NotMePage {
  realm: string;
  settings: RealmSettingsDto;
}

export function sendNotMe(
  reply: FastifyReply,
  { realm, settings }: NotMePage,
  { token, username, hasPassword }: { token: string; username: string; hasPassword: boolean },
): FastifyReply {
  const body = html`<p class="lead">${text('notMe.lead', { username })}</p>
${hasPassword && html`<p>${text('notMe.password')}</p>`}
<p>${text('notMe.removes')}</p>
<p>${text('notMe.withdraws')}</p>
<form method="post" action="/realms/${realm}/login/not-me">
<input type="hidden" name="token" value="${token}">
<button class="full">${text('notMe.submit')}</button>
</form>
<p class="hint">${text('notMe.wasMe')}</p>`;
  return sendPage(reply, { realm, brand: settings, title: text('notMe.title'), body, plain: true });
}

/** @param passwordOff an administrator must set a new password */
export function sendEnded(
  reply: FastifyReply,
  { realm, settings }: NotMePage,
  { passwordOff }: { passwordOff: boolean },
): FastifyReply {
  const body = html`<p class="lead" role="status">${text('notMe.done')}</p>
${passwordOff && html`<p>${text('notMe.passwordOff')}</p>`}
<p>${text('notMe.look')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('notMe.doneTitle'), body });
}

export function sendUseless(reply: FastifyReply, { realm, settings }: NotMePage): FastifyReply {
  const body = html`<p role="alert">${text('notMe.over')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('link.useless'), body }, { status: 400 });
}
