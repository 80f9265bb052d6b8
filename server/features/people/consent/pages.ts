// The consent page: which application asks, for what, and as which user. The form's `decision` names the button that was
// pressed.
import type { AskedDetail } from '../../../domain/authorization-details.ts';
import type { ScopeView } from '../../../domain/claims.ts';
import { type AboutClient, aboutClient, clientMark } from '../../../http/about-client.ts';
import { decisionForm } from '../../../http/decision-form.ts';
import { type Html, html, isolated } from '../../../http/html.ts';
import { currentLanguage } from '../../../http/spoken.ts';
import { hasBuiltInText, type PlainKey, plainText, scopeText, text, textHtml } from '../../../http/texts.ts';
import { detailItem, detailLine } from './details.ts';

/** The list of everything that the application asks for, in words. */
export interface ListedAgreement {
  scopes: readonly ScopeView[];
  openid: boolean;
  resources: readonly string[];
  claims: readonly string[];
  administers: boolean;
  /** What a rich authorization request asks for (RFC 9396). */
  details: readonly AskedDetail[];
}
/** Scopes that tell the application something about the user; the others let it do something. */
const LEARNS: ReadonlySet<string> = new Set([
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'roles',
  'groups',
  'organization',
]);
const explanations: Readonly<Record<string, PlainKey>> = {
  openid: 'consent.explainOpenid',
  profile: 'consent.explainProfile',
  email: 'consent.explainEmail',
  phone: 'consent.explainPhone',
  roles: 'consent.explainRoles',
  account: 'consent.explainAccount',
  offline_access: 'consent.explainOffline',
};

const item = (what: Html | string, why?: string): Html =>
  html`<li><div><div class="what">${what}</div>${why !== undefined && html`<div class="soft">${why}</div>`}</div></li>`;

/** A realm's own description may have another direction than the page. */
function scopeItem({ name, description }: ScopeView): Html {
  const words = scopeText(name, description);
  if (!hasBuiltInText(name, description)) return item(isolated(words));
  const key = explanations[name];
  return item(words, key && plainText(key));
}

export function agreementList({ scopes, openid, resources, claims, administers, details }: ListedAgreement): Html {
  const of = (learns: boolean) => scopes.filter(({ name }) => LEARNS.has(name) === learns).map(scopeItem);
  const learns = [
    ...(openid ? [item(text('consent.openid'), text('consent.explainOpenid'))] : []),
    ...of(true),
    ...claims.map((claim) => item(textHtml('consent.claim', { claim: html`<strong>${claim}</strong>` }))),
  ];
  const acts = [
    ...(administers
      ? [item(html`<strong>${text('consent.administer')}</strong>`, text('consent.administerWarning'))]
      : []),
    ...of(false),
    ...resources.map((resource) =>
      item(textHtml('consent.resource', { resource: html`<strong>${resource}</strong>` })),
    ),
  ];
  const group = (title: string, items: readonly Html[]): Html =>
    items.length === 0
      ? html``
      : html`<h2 class="group">${title}</h2>
<ul class="rows">${items}</ul>`;
  const groups = [group(text('consent.learns'), learns), group(text('consent.acts'), acts)];
  const { tag } = currentLanguage();
  const asked = group(
    text('consent.details'),
    details.map((one) => detailItem(one, tag)),
  );
  // The gravest question comes first.
  return html`${asked}${administers ? groups.reverse() : groups}`;
}

/** The same as {@link agreementList}, a line of text for each, for a device. */
export function agreementLines({ scopes, openid, resources, claims, details }: ListedAgreement): string[] {
  const { tag } = currentLanguage();
  return [
    ...details.map((one) => detailLine(one, tag)),
    ...(openid ? [text('consent.openid')] : []),
    ...scopes.map(({ name, description }) => scopeText(name, description)),
    ...claims.map((claim) => text('consent.claim', { claim })),
    ...resources.map((resource) => text('consent.resource', { resource })),
  ];
}

/** The host of a redirect URI; for an app's own scheme, the scheme. */
const hostOf = (uri: string): string => new URL(uri).host || new URL(uri).protocol;

export function consentPage({
  answerAt,
  application,
  about,
  origin,
  username,
  agreement,
  request,
  since,
  proof,
}: {
  answerAt: string;
  application: string;
  about: AboutClient | undefined;
  /** For a client that no administrator has reviewed: the host of its metadata, and the redirect URI of the answer. */
  origin: { host: string; redirectUri: string } | undefined;
  username: string;
  agreement: Html;
  request: string;
  /** Only factors that the session proved at or after this time count for the request. */
  since: number;
  proof: string;
}): Html {
  return html`${clientMark(application, about)}
<p class="lead">${textHtml('consent.lead', { application: html`<strong>${application}</strong>`, username: html`<strong>${username}</strong>` })}</p>
${origin && html`<p>${textHtml('consent.origin', { host: html`<strong>${origin.host}</strong>`, address: html`<strong>${hostOf(origin.redirectUri)}</strong>` })}</p>`}
${agreement}
${aboutClient(about && { ...about, logo: null, host: undefined })}
${decisionForm(answerAt, { request, since, proof })}`;
}
