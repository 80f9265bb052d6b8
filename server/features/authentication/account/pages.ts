// The account page: the user's own data, sessions and sign-out.
import type { FastifyReply } from 'fastify';
import type { OwnAgent, OwnApplication } from '../../../contract/account.ts';
import type { ConsentRecord } from '../../../contract/gdpr.ts';
import type { OfflineSession } from '../../../contract/offline-sessions.ts';
import type { Session } from '../../../contract/sessions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Credential } from '../../../contract/users.ts';
import { timeAgo } from '../../../http/ago.ts';
import { deviceName } from '../../../http/device-name.ts';
import { type Html, html, sendPage } from '../../../http/pages.ts';
import { text, textHtml } from '../../../http/texts.ts';
import {
  type ActivityView,
  activitySection,
  agentsSection,
  applicationsSection,
  dataSection,
  offlineSection,
  ownApplicationsSection,
  type ProfileView,
  profileSection,
  type SectionParts,
} from './sections.ts';
import { type MethodsView, methodsSection } from './sign-in-methods.ts';
import type { Profile } from './store.ts';

export interface AccountView {
  realm: string;
  settings: RealmSettingsDto;
  profile: Profile;
  /** The user's address is unconfirmed: only codes are sent to it. */
  isUnconfirmed: boolean;
  sessions: readonly Session[];
  /** The session that loads the page. */
  currentId: string;
  csrf: string;
  said: string | undefined;
  /** The impersonating administrator; null: it is the user's own session. */
  acting: { name: string; until: Date } | null;
  /** The names that users see of clients, by client id. */
  titles: ReadonlyMap<string, string>;
  now: Date;
  credentials: readonly Credential[];
  kinds: MethodsView['kinds'];
  usable: MethodsView['usable'];
  attributes: ProfileView['attributes'];
  changes: ProfileView['changes'];
  applications: readonly OwnApplication[];
  consents: readonly ConsentRecord[];
  offline: readonly OfflineSession[];
  /** The descriptions of client scopes, by name. */
  scopes: ReadonlyMap<string, string | null>;
  agents: readonly OwnAgent[];
  activity: ActivityView;
  /** Sections of other features. */
  sections: readonly ((parts: SectionParts & { mayChange: boolean }) => Promise<Html | false>)[];
}

const bannerOf = (username: string, { name, until }: { name: string; until: Date }, now: Date): string => {
  const minutes = Math.max(Math.ceil((until.getTime() - now.getTime()) / 60_000), 1);
  return text('account.acting', { name, username, minutes });
};

export async function sendAccount(reply: FastifyReply, view: AccountView): Promise<FastifyReply> {
  const { realm, settings, profile, sessions, currentId, csrf, said, acting, titles, now } = view;
  const time = (at: number) => html`<time datetime="${new Date(at).toISOString()}">${timeAgo(at, now)}</time>`;
  const post = (action: string, inside: Html) => html`<form method="post" action="/realms/${realm}/account/${action}">
<input type="hidden" name="csrf" value="${csrf}">${inside}</form>`;
  const name = [profile.first_name, profile.last_name].filter(Boolean).join(' ');
  const sections = await Promise.all(view.sections.map((show) => show({ post, time, mayChange: !acting })));
  // Consents of agents' clients are listed with the agents.
  const others = new Set(view.agents.flatMap(({ because, clientId }) => (because === 'consent' ? [clientId] : [])));
  const body = html`${said && html`<p class="note" role="status">${said}</p>`}
${profileSection({ ...view, name }, { post, time })}
${ownApplicationsSection(view.applications)}
${methodsSection({ credentials: view.credentials, kinds: view.kinds, usable: view.usable, post, time, mayChange: !acting })}
${sections.map((section) => html`${section}`)}
<h2>${text('account.sessions')}</h2>
<ul class="rows">
${sessions.map((session) => {
  const device = deviceName(session.userAgent);
  const here = session.id === currentId;
  return html`<li>
<div><strong>${device}</strong>${here && html`<span class="badge">${text('account.thisDevice')}</span>`}
${session.impersonator !== null && html`<div class="soft">${textHtml('account.sessionActing', { name: html`<bdi>${session.impersonator}</bdi>` })}</div>`}
<div class="soft">${textHtml('account.signedIn', { address: html`<bdi>${session.ipAddress ?? text('account.addressUnknown')}</bdi>`, when: time(session.startedAt) })}</div>
<div class="soft">${textHtml('account.lastSeen', { when: time(session.lastSeenAt) })}</div>
${session.clients.length > 0 && html`<div class="soft">${session.clients.map((id) => titles.get(id) ?? id).join(' · ')}</div>`}</div>
${!here && !acting && post(`sessions/${session.id}/end`, html`<button class="quiet">${text('account.end')}<span class="hidden">${text('account.endSession', { device, address: session.ipAddress ?? text('account.addressUnknown') })}</span></button>`)}
</li>`;
})}
</ul>
${!acting && sessions.length > 1 && html`<div class="actions">${post('sessions/end-others', html`<button class="quiet">${text('account.endOthers')}</button>`)}</div>`}
${offlineSection(view.offline, { titles, scopes: view.scopes, mayChange: !acting, post, time })}
${applicationsSection(
  view.consents.filter(({ clientId }) => !others.has(clientId)),
  { titles, scopes: view.scopes, mayChange: !acting, post, time },
)}
${agentsSection(view.agents, view.consents, { titles, scopes: view.scopes, now, mayChange: !acting, post, time })}
${dataSection({ mayChange: !acting, post, time })}
${activitySection(view.activity, { realm, titles, post, time })}
<div class="actions">${post('sign-out', html`<button>${text('account.signOut')}</button>`)}</div>`;
  const banner = acting && bannerOf(profile.username, acting, now);
  const page = { realm, brand: settings, title: name || profile.username, body, wide: true, banner };
  return sendPage(reply, page, { images: view.applications.flatMap(({ iconUrl }) => iconUrl ?? []) });
}

export function sendSignedOut(reply: FastifyReply, realm: string, settings: RealmSettingsDto): FastifyReply {
  const body = html`<p class="lead" role="status">${text('account.signedOutHere')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('account.signInAgain')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('account.signedOut'), body });
}
