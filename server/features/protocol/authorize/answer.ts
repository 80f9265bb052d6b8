// Sends an authorization response, a code or an error, to the application: in the query, or by a form that submits
// itself. OAuth 2.0 Form Post Response Mode §2; RFC 9207 (`iss`); RFC 9700 §4.12 (303).
import type { FastifyReply } from 'fastify';
import { withQuery } from '../../../domain/redirect-uri.ts';
import type { OAuthError } from '../../../http/oauth-error.ts';
import type { Brand } from '../../../http/pages.ts';
import { sendForm } from '../../../http/self-posting.ts';
import type { Target } from './checks.ts';

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
  return sendForm(reply, { realm, brand }, { action: redirectUri, fields: all });
}

export const errorParameters = ({ error, description }: OAuthError) => ({ error, error_description: description });
