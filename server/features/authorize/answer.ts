// How an authorization answer, a code or an error, gets to the application: by query or by a form that posts itself.
// OAuth 2.0 Form Post Response Mode §2; RFC 9207 (`iss`); RFC 9700 §4.12 (303).
import type { FastifyReply } from 'fastify';
import { withQuery } from '../../domain/redirect-uri.ts';
import type { OAuthError } from '../../http/oauth-error.ts';
import { type Brand, html, sendPage } from '../../http/pages.ts';
import { text } from '../../http/texts.ts';
import type { Target } from './checks.ts';

const SCRIPT = 'document.forms[0].submit();';

export interface Answer {
  realm: string;
  brand: Brand | undefined;
  issuer: string;
  target: Target;
  parameters: Readonly<Record<string, string | undefined>>;
}

export function sendAnswer(reply: FastifyReply, { realm, brand, issuer, target, parameters }: Answer): FastifyReply {
  const { redirectUri, responseMode, state } = target;
  const all = { ...parameters, state, iss: issuer };
  void reply.header('cache-control', 'no-store');
  if (responseMode === 'query') return reply.redirect(withQuery(redirectUri, all), 303);
  const fields = Object.entries(all).map(([name, value]) =>
    value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}">\n`,
  );
  const body = html`<form method="post" action="${redirectUri}">
${fields}<p class="lead">${text('authorize.sentBack')}</p>
<div class="actions"><button>${text('authorize.goOn')}</button></div>
</form>`;
  const page = { realm, brand, title: text('authorize.oneMoment'), body, script: SCRIPT };
  return sendPage(reply, page, { formAction: [redirectUri] });
}

export const errorParameters = ({ error, description }: OAuthError) => ({ error, error_description: description });
