// Sections of the account page: profile, applications, agents, recent activity and data. sign-in-methods.ts and
// session-list.ts have the others.

import type { OwnAgent, OwnApplication } from '../../../contract/account.ts';
import { DAY_MS } from '../../../contract/durations.ts';
import type { ConsentRecord } from '../../../contract/gdpr.ts';
import type { OfflineSession } from '../../../contract/offline-sessions.ts';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import { AGENT_REMINDER_DAYS } from '../../../domain/agents.ts';
import { monogram, picture } from '../../../http/about-client.ts';
import { dayOf } from '../../../http/ago.ts';
import { type Html, html, isolated } from '../../../http/html.ts';
import { hasBuiltInText, type PlainKey, plainText, scopeText, text, textHtml } from '../../../http/texts.ts';
import type { ActivityRow, Profile } from './store.ts';
import { accountPath } from './views.ts';

export interface SectionParts {
  post(action: string, inside: Html): Html;
  time(at: number): Html;
  /** false: an impersonated session, which may change nothing. */
  mayChange: boolean;
}

const row = (term: string, value: string | null, more: Html | false = false): Html | false =>
  !!value && html`<dt>${term}</dt><dd>${value}${more}</dd>`;

export interface ProfileView {
  profile: Profile;
  isUnconfirmed: boolean;
  name: string;
  /** The attributes that users may see, with their labels. */
  attributes: readonly (readonly [label: string, values: readonly string[]])[];
  /** The changes that the user can start here. */
  changes: readonly { action: RequiredAction; words: string }[];
}

export const profileSection = (
  { profile, name, attributes, changes, isUnconfirmed }: ProfileView,
  { post }: SectionParts,
): Html =>
  html`<h2>${text('account.profile')}</h2>
<dl>
${row(text('account.username'), profile.username)}
${row(text('account.name'), name)}
${row(text('account.email'), profile.email, isUnconfirmed && html` <span class="badge">${text('account.emailUnconfirmed')}</span>`)}
${attributes.map(([label, values]) => html`${row(label, values.join(', '))}`)}
</dl>
${
  changes.length > 0 &&
  html`<div class="actions">
${changes.map(({ action, words }) =>
  post('change', html`<input type="hidden" name="action" value="${action}"><button class="quiet">${words}</button>`),
)}
</div>`
}`;

/** A realm's own text may have another direction than the page. */
const scopeWords = (name: string, description: string | null): Html | string => {
  const words = scopeText(name, description);
  return hasBuiltInText(name, description) ? words : isolated(words);
};

const scopeList = (names: readonly string[], scopes: ApplicationsParts['scopes']): Html =>
  html`<ul class="soft">${names.map((name) => html`<li>${scopeWords(name, scopes.get(name) ?? null)}</li>`)}</ul>`;

/** The applications that the user may open, also those that were never used. */
export const ownApplicationsSection = (applications: readonly OwnApplication[]): Html | false =>
  applications.length > 0 &&
  html`<h2>${text('account.yourApplications')}</h2>
<ul class="rows">
${applications.map(({ name, displayName, description, url, iconUrl }) => {
  const title = displayName ?? name;
  return html`<li class="app">${iconUrl === null ? monogram(title) : picture(iconUrl, title)}
<div><strong>${url === null ? isolated(title) : html`<a href="${url}" rel="noreferrer">${isolated(title)}</a>`}</strong>
${description && html`<div class="soft" dir="auto">${description}</div>`}</div></li>`;
})}
</ul>`;

interface ApplicationsParts extends SectionParts {
  titles: ReadonlyMap<string, string>;
  /** The descriptions of scopes, by name. */
  scopes: ReadonlyMap<string, string | null>;
}

export const applicationsSection = (consents: readonly ConsentRecord[], parts: ApplicationsParts): Html | false =>
  consents.length > 0 &&
  html`<h2>${text('account.applications')}</h2>
<ul class="rows">
${consents.map((one) => consentRow(one, parts.titles.get(one.clientId) ?? one.clientName ?? one.clientId, parts))}
</ul>`;

function consentRow(
  { clientId, scopes: allowed, resources, claims, grantedAt }: ConsentRecord,
  title: string,
  { scopes, mayChange, post, time }: ApplicationsParts,
  about: Html | false = false,
): Html {
  const button = html`<button class="quiet">${text('account.withdraw')}<span class="hidden"> ${title}</span></button>`;
  return html`<li>
<div><strong>${isolated(title)}</strong>${about}
${allowed.length > 0 && scopeList(allowed, scopes)}
${resources.length > 0 && html`<ul class="soft">${resources.map((resource) => html`<li>${textHtml('consent.resource', { resource: isolated(resource) })}</li>`)}</ul>`}
${claims.length > 0 && html`<div class="soft">${claims.map((claim, i) => html`${i > 0 && ', '}${isolated(claim)}`)}</div>`}
<div class="soft">${textHtml('account.allowed', { when: time(grantedAt) })}</div></div>
${mayChange && post(`consents/${encodeURIComponent(clientId)}/withdraw`, button)}
</li>`;
}

/** Clients that hold refresh tokens independent of a session, with or without the user's consent. */
export const offlineSection = (grants: readonly OfflineSession[], parts: ApplicationsParts): Html | false =>
  grants.length > 0 &&
  html`<h2>${text('said.scopeOffline')}</h2>
<ul class="rows">
${grants.map((grant) => offlineRow(grant, parts))}
</ul>`;

function offlineRow(
  { id, clientId, scopes: allowed, startedAt, lastRefreshedAt }: OfflineSession,
  { titles, scopes, mayChange, post, time }: ApplicationsParts,
): Html {
  const title = titles.get(clientId) ?? clientId;
  return html`<li>
<div><strong>${isolated(title)}</strong>
${scopeList(allowed, scopes)}
<div class="soft">${textHtml('account.allowed', { when: time(startedAt) })}</div>
${lastRefreshedAt !== null && html`<div class="soft">${textHtml('account.methodLastUsed', { when: time(lastRefreshedAt) })}</div>`}</div>
${mayChange && post(`offline/${id}/end`, html`<button class="quiet">${text('account.end')}<span class="hidden"> ${title}</span></button>`)}
</li>`;
}

const states: Record<OwnAgent['status'], PlainKey> = {
  draft: 'account.agentDraft',
  active: 'account.agentActive',
  suspended: 'account.agentSuspended',
  revoked: 'account.agentRevoked',
};

const day = (at: number): Html => html`<time datetime="${new Date(at).toISOString()}">${dayOf(at)}</time>`;

const isDue = (at: number | null, now: Date) => at !== null && at <= now.getTime() + AGENT_REMINDER_DAYS * DAY_MS;

export function agentsSection(
  agents: readonly OwnAgent[],
  consents: readonly ConsentRecord[],
  parts: ApplicationsParts & { now: Date },
): Html | false {
  const { now, mayChange, post } = parts;
  const button = (id: string, name: string, action: string, words: string) =>
    post(
      `agents/${id}/${action}`,
      html`<button class="quiet${action === 'end' && ' danger'}">${words}<span class="hidden"> ${name}</span></button>`,
    );
  const buttons = ({ id, name, status, reviewDueAt }: OwnAgent): Html => html`<div class="actions">
${isDue(reviewDueAt, now) && button(id, name, 'confirm', text('account.confirmAgent'))}
${status === 'active' && button(id, name, 'stop', text('account.stopAgent'))}
${button(id, name, 'end', text('account.endAgent'))}
</div>`;
  if (agents.length === 0) return false;
  return html`<h2>${text('account.agents')}</h2>
<ul class="rows">
${agents.flatMap((agent) => {
  const { name, description, status, because, clientId, reviewDueAt } = agent;
  const about = html`<span class="badge">${plainText(states[status])}</span>
${description && html`<div class="soft" dir="auto">${description}</div>`}`;
  if (because === 'consent')
    return consents.flatMap((one) => (one.clientId === clientId ? [consentRow(one, name, parts, about)] : []));
  return html`<li>
<div><strong>${isolated(name)}</strong>${about}
${status === 'active' && reviewDueAt !== null && html`<div class="soft">${textHtml('account.agentReview', { day: day(reviewDueAt) })}</div>`}
${mayChange && status !== 'revoked' && buttons(agent)}</div>
</li>`;
})}
</ul>`;
}

/** The events that are shown, in words. Other events don't concern users. */
const activities = new Map<string, PlainKey>([
  ['LOGIN_SUCCESS', 'activity.signedIn'],
  ['LOGIN_FAILURE', 'activity.failed'],
  ['LOGOUT', 'activity.signedOut'],
  ['SIGN_IN_REPORTED', 'activity.reported'],
  ['SESSION_ENDED', 'activity.sessionEnded'],
  ['PASSWORD_CHANGED', 'activity.password'],
  ['CREDENTIAL_CREATED', 'activity.methodAdded'],
  ['CREDENTIAL_DELETED', 'activity.methodRemoved'],
  ['RECOVERY_CODE_USED', 'activity.recoveryCode'],
  ['USER_CREATED', 'activity.created'],
  ['USER_UPDATED', 'activity.profile'],
  ['USER_LOCKED', 'activity.locked'],
  ['USER_UNLOCKED', 'activity.unlocked'],
  ['TERMS_ACCEPTED', 'activity.terms'],
  ['CONSENT_GRANTED', 'activity.allowed'],
  ['CONSENT_REVOKED', 'activity.withdrawn'],
  ['IMPERSONATION_STARTED', 'activity.acted'],
  ['BROWSER_FORGOTTEN', 'activity.browserForgotten'],
  ['IDENTITY_LINKED', 'activity.linked'],
  ['IDENTITY_UNLINKED', 'activity.unlinked'],
  ['DEVICE_ENROLMENT_OFFERED', 'activity.deviceOffered'],
  ['DEVICE_ENROLMENT_USED', 'activity.deviceUsed'],
  ['ENROLMENT_LINK_CREATED', 'activity.linkMade'],
  ['ENROLMENT_LINK_USED', 'activity.linkUsed'],
  ['PUSH_DENIED', 'activity.pushDenied'],
  ['DEVICE_APPROVED', 'activity.deviceApproved'],
  ['TRANSACTION_SIGNED', 'activity.signed'],
  ['TRANSACTION_DENIED', 'activity.notSigned'],
  ['INVITATION_ACCEPTED', 'activity.joined'],
  ['DATA_EXPORTED', 'activity.exported'],
]);
const activityOf = ({ type, field, count }: ActivityRow): string => {
  if (count > 1) return text('activity.failedTimes', { count });
  if (field === 'email') return text('activity.email');
  const key = activities.get(type);
  return key === undefined ? type : plainText(key);
};
export const toldActivities: readonly string[] = [...activities.keys()];

export interface ActivityView {
  rows: readonly ActivityRow[];
  /** The page begins after newer events. */
  isOlder: boolean;
  /** The cursor for older events; undefined: there are none. */
  next: string | undefined;
}

export function activitySection(
  { rows, isOlder, next }: ActivityView,
  { time, titles, realm }: SectionParts & { titles: ReadonlyMap<string, string>; realm: string },
): Html {
  const page = `${accountPath(realm, 'activity')}&activity=`;
  const row = (one: ActivityRow): Html => {
    const { at, ipAddress, clientId, byOther } = one;
    const about = [
      clientId === null ? null : (titles.get(clientId) ?? clientId),
      ipAddress,
      byOther && text('activity.byOther'),
    ];
    return html`<li><div><strong>${activityOf(one)}</strong><div class="soft">${time(at)}${about.filter((one) => one).map((one) => html` · <bdi>${one || ''}</bdi>`)}</div></div></li>`;
  };
  return html`<h2>${text('account.activity')}</h2>
${
  rows.length === 0
    ? html`<p class="soft">${text('account.noActivity')}</p>`
    : html`<ul class="rows">
${rows.map(row)}
</ul>`
}
${
  (isOlder || next !== undefined) &&
  html`<div class="actions">${isOlder && html`<a class="button quiet" href="${page}">${text('activity.newest')}</a>`}
${next !== undefined && html`<a class="button quiet" href="${page}${next}">${text('activity.older')}</a>`}</div>`
}`;
}

/** Not shown in an impersonated session. */
export const dataSection = ({ post }: SectionParts): Html =>
  html`<h2>${text('account.data')}</h2>
<p class="soft">${text('account.dataLead')}</p>
<div class="actions">${post('export', html`<button class="quiet">${text('account.download')}</button>`)}
${post('erase', html`<button class="quiet danger">${text('account.erase')}</button>`)}</div>`;
