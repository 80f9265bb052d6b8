// Sends an authorization response, a code or an error, to the application: in the query, by a form that submits itself, or
// as a signed JWT by any of these or in the fragment. OAuth 2.0 Form Post Response Mode §2; JARM; RFC 9207 (`iss`); RFC 9700
// §4.12 (303).
import type { FastifyReply } from 'fastify';
import { withFragment, withQuery } from '../../../domain/redirect-uri.ts';
import type { OAuthError } from '../../../http/oauth-error.ts';
import type { Brand } from '../../../http/pages.ts';
import { sendForm } from '../../../http/self-posting.ts';
import type { Encrypted } from '../../configuration/issued-tokens/encryption.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Target } from './checks.ts';
import { isJwtMode } from './response-modes.ts';

/** As long as a code lives; JARM §2.1 recommends ten minutes at most. */
const RESPONSE_SECONDS = 60;

export interface Answer {
  realm: string;
  brand: Brand | undefined;
  issuer: string;
  target: Target;
  parameters: Readonly<Record<string, string | undefined>>;
}

function send(
  reply: FastifyReply,
  { realm, brand, target: { redirectUri, responseMode } }: Answer,
  fields: Readonly<Record<string, string | undefined>>,
): FastifyReply {
  void reply.header('cache-control', 'no-store');
  if (responseMode === 'form_post' || responseMode === 'form_post.jwt')
    return sendForm(reply, { realm, brand }, { action: redirectUri, fields });
  const address = responseMode === 'fragment.jwt' ? withFragment(redirectUri, fields) : withQuery(redirectUri, fields);
  return reply.redirect(address, 303);
}

/** Sends a response that is no JWT. */
export const sendPlainAnswer = (reply: FastifyReply, answer: Answer): FastifyReply =>
  send(reply, answer, { ...answer.parameters, state: answer.target.state, iss: answer.issuer });

/** Sends responses of every mode. @throws OAuthError `invalid_request`: the response can't be encrypted for the application */
export const createAnswers =
  ({ tokens, encrypted, now }: { tokens: Pick<Tokens, 'sign'>; encrypted: Encrypted; now: () => Date }) =>
  async (reply: FastifyReply, answer: Answer): Promise<FastifyReply> => {
    const { realm, issuer, target, parameters } = answer;
    const { client, responseMode, state } = target;
    if (!isJwtMode(responseMode)) return sendPlainAnswer(reply, answer);
    const exp = Math.floor(now().getTime() / 1000) + RESPONSE_SECONDS;
    const algorithm = client.authorizationSignedResponseAlg;
    const claims = { ...parameters, state, iss: issuer, aud: client.clientId, exp };
    const signed = await tokens.sign(realm, { typ: 'JWT', algorithm }, claims);
    return send(reply, answer, { response: await encrypted(client, 'authorization', signed, 'JWT') });
  };
export type Answers = ReturnType<typeof createAnswers>;

export const errorParameters = ({ error, description }: OAuthError) => ({ error, error_description: description });
