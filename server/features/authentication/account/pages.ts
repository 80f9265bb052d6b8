// The frame of the account page: navigation and sign-out.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { timeAgo } from '../../../http/ago.ts';
import { type Html, html, type Page, sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';
import { type Content, fullName } from './contents.ts';
import { passkeySignalScript } from './passkey-signals.ts';
import type { SectionParts } from './sections.ts';
import type { Profile } from './store.ts';
import { type AccountViewName, accountViews, nameOfView, navigation } from './views.ts';

export interface AccountView {
  realm: string;
  settings: RealmSettingsDto;
  profile: Profile;
  current: AccountViewName;
  content: Content;
  parts: SectionParts;
  said: string | undefined;
}

/** The parts of the frame that the sections use. */
export const partsOf = (
  realm: string,
  { csrf, mayChange, now }: { csrf: string; mayChange: boolean; now: Date },
): SectionParts => ({
  mayChange,
  time: (at: number) => html`<time datetime="${new Date(at).toISOString()}">${timeAgo(at, now)}</time>`,
  post: (action: string, inside: Html) => html`<form method="post" action="/realms/${realm}/account/${action}">
<input type="hidden" name="csrf" value="${csrf}">${inside}</form>`,
});

/** An impersonated session can neither download nor erase the user's data. */
export const viewsFor = (mayChange: boolean): readonly AccountViewName[] =>
  mayChange ? accountViews : accountViews.filter((view) => view !== 'data');

export const sendAccount = (reply: FastifyReply, view: AccountView): FastifyReply =>
  sendPage(reply, accountPage(view), { images: view.content.images ?? [] });

export function accountPage({ realm, settings, profile, current, content, parts, said }: AccountView): Page {
  const signOut = parts.post('sign-out', html`<button class="quiet">${text('account.signOut')}</button>`);
  const body = html`<div class="account">
${navigation(realm, { current, views: viewsFor(parts.mayChange), below: signOut })}
<div>
${said && html`<p class="note" role="status">${said}</p>`}
${content.body}
${content.signals && html`<div hidden data-passkeys="${JSON.stringify(content.signals)}"></div>`}
</div>
</div>`;
  const title = fullName(profile) || profile.username;
  const documentTitle = `${nameOfView(current)} – ${title}`;
  const script = content.signals && passkeySignalScript;
  return { realm, brand: settings, title, documentTitle, body, wide: true, script };
}

export function sendSignedOut(reply: FastifyReply, realm: string, settings: RealmSettingsDto): FastifyReply {
  const body = html`<p class="lead" role="status">${text('account.signedOutHere')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('account.signInAgain')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('account.signedOut'), body });
}
