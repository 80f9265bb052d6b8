// The consent page: which application asks, for what, and as which user. The form's `decision` names the button that was
// pressed.
import type { ScopeView } from '../../../domain/claims.ts';
import { type AboutClient, aboutClient } from '../../../http/about-client.ts';
import { decisionForm } from '../../../http/decision-form.ts';
import { type Html, html } from '../../../http/pages.ts';
import { scopeText, text, textHtml } from '../../../http/texts.ts';

/** The list of everything that the application asks for, in words. */
export interface ListedAgreement {
  scopes: readonly ScopeView[];
  openid: boolean;
  resources: readonly string[];
  claims: readonly string[];
  administers: boolean;
}
export function agreementList({ scopes, openid, resources, claims, administers }: ListedAgreement): Html {
  const asked = [
    ...(administers
      ? [
          html`<li><span><strong>${text('consent.administer')}</strong><br>${text('consent.administerWarning')}</span></li>`,
        ]
      : []),
    ...(openid ? [html`<li>${text('consent.openid')}</li>`] : []),
    ...scopes.map(({ name, description }) => html`<li>${scopeText(name, description)}</li>`),
    ...claims.map((claim) => html`<li>${textHtml('consent.claim', { claim: html`<strong>${claim}</strong>` })}</li>`),
    ...resources.map(
      (resource) => html`<li>${textHtml('consent.resource', { resource: html`<strong>${resource}</strong>` })}</li>`,
    ),
  ];
  return html`<ul class="rows">${asked}</ul>`;
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
  return html`<p class="lead">${textHtml('consent.lead', { application: html`<strong>${application}</strong>`, username: html`<strong>${username}</strong>` })}</p>
${origin && html`<p>${textHtml('consent.origin', { host: html`<strong>${origin.host}</strong>`, address: html`<strong>${hostOf(origin.redirectUri)}</strong>` })}</p>`}
${aboutClient(about)}
${agreement}
${decisionForm(answerAt, { request, since, proof })}`;
}
