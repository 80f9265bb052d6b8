// The notice of an impersonated session, which every page of its requests shows: the administrator, the user, and how long
// it lasts. The session's reader notes it on the request (features/people/sessions).
import type { FastifyRequest } from 'fastify';
import { type Html, html, isolated } from './html.ts';
import { textHtml } from './texts.ts';

interface Acting {
  /** The administrator's name. */
  name: string;
  username: string;
  minutes: number;
}
const noted = new WeakMap<FastifyRequest, Acting>();

export function noteActing(
  request: FastifyRequest,
  name: string,
  { username, expiresAt }: { username: string; expiresAt: Date },
  now: Date,
): void {
  const minutes = Math.max(Math.ceil((expiresAt.getTime() - now.getTime()) / 60_000), 1);
  noted.set(request, { name, username, minutes });
}
/** The session has ended: the request's page shows no notice. */
export const forgetActing = (request: FastifyRequest): void => void noted.delete(request);

export function actingNotice(request: FastifyRequest): Html | false {
  const acting = noted.get(request);
  if (!acting) return false;
  const { name, username, minutes } = acting;
  return html`<p class="error" role="alert">${textHtml('account.acting', { name: isolated(name), username: isolated(username), minutes })}</p>`;
}
