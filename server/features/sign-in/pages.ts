// The sign-in's pages: the frame around a step's form, refusals, and what to do when a sign-in is over. No script, no
// inline style. Authenticators write the inside of their forms.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { errorId, type Html, html } from '../../http/html.ts';
import { sendPage } from '../../http/pages.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import { idOf } from './judge.ts';
import type { View } from './service.ts';

/** Any https address beyond the application's own: its callback may lead on to another origin. */
const ANY_HTTPS = 'https:';

/** What a form says of itself: whose it is, and what was asked for, which it leads back to when its sign-in is gone. */
interface Of {
  realm: string;
  csrf: string;
  asked: string | undefined;
}

/** A form of the sign-in: every one carries the token that only its own pages know. */
const form = ({ realm, csrf, asked }: Of, inside: Html): Html =>
  html`<form method="post" action="/realms/${realm}/login" novalidate>
<input type="hidden" name="csrf" value="${csrf}">
${asked !== undefined && html`<input type="hidden" name="asked" value="${asked}">`}
${inside}
</form>`;

const restart = (of: Of, words: string): Html =>
  form(of, html`<button class="link" name="do" value="restart">${words}</button>`);

export function sendStep(
  reply: FastifyReply,
  realm: string,
  { state, settings, standing, page, beside, csrf }: View,
  { registry, asked }: { registry: readonly AuthenticatorRecord[]; asked: string | undefined },
): FastifyReply {
  const of = { realm, csrf, asked };
  if (standing.do === 'refused') return sendRefusal(reply, of, { state, settings, because: standing.because });
  if (!page || standing.do === 'finish') throw new Error('there is no step to show');
  if (state.is === 'refused' || state.is === 'done') throw new Error('it takes no more steps');
  const others = standing.do === 'ask' ? standing.others : [];
  const nameOf = (id: string) => registry.find((r) => r.id === id)?.displayName ?? id;
  const { complaint, purpose } = state;
  // Pages have one script at most.
  const script = page.script ?? [...beside.values()][0]?.script;
  const user = state.is === 'known' ? state.user : undefined;
  const body = html`${!user && lead(purpose.clientName, settings)}
${complaint && html`<div class="error" role="alert" id="${errorId(complaint.field)}"><p>${complaint.message}</p></div>`}
${form(
  of,
  html`<input type="hidden" name="step" value="${idOf(standing)}">
${page.body}
<button name="do" value="next">${page.submit}</button>`,
)}
${
  (others.length > 0 || user) &&
  html`<div class="more">
${others.map(({ executionId, authenticatorId }) =>
  form(
    of,
    html`<input type="hidden" name="execution" value="${executionId}">${beside.get(executionId)?.body}
<button class="link" name="do" value="choose">${beside.get(executionId)?.words ?? `Use ${nameOf(authenticatorId)} instead`}</button>`,
  ),
)}
${user && restart(of, `Not ${user.username}? Start again`)}
</div>`
}`;
  const title = complaint ? `Error: ${page.title}` : page.title;
  const shown = { title: page.title, documentTitle: title, body, plain: page.plain, script };
  return sendPage(reply, { realm, brand: settings, ...shown }, formPolicy(purpose));
}

const formPolicy = ({ redirectTo }: { redirectTo?: string | undefined }) => ({
  formAction: redirectTo === undefined ? [] : [redirectTo, ANY_HTTPS],
});

const lead = (clientName: string | undefined, { welcomeText, defaultLocale }: RealmSettingsDto): Html | false => {
  if (welcomeText) return html`<p class="lead" lang="${defaultLocale}">${welcomeText}</p>`;
  return clientName !== undefined && html`<p class="lead">to continue to ${clientName}</p>`;
};

const refusals: Record<string, { title: string; words: string }> = {
  risk: {
    title: 'This sign-in was refused',
    words:
      'Something about it is unusual for your account. Try again from a device and a network that you have used before, or ask your administrator.',
  },
  'no-second-factor': {
    title: 'A second factor is needed',
    words:
      'This sign-in needs a second factor, and none is set up for your account. Sign in from a device that you have used before, or ask your administrator.',
  },
  exhausted: {
    title: 'You could not be signed in',
    words: 'No other way to sign in is left. Start again, or ask your administrator.',
  },
  'nothing-to-do': {
    title: 'Signing in is not possible here',
    words: 'The way people sign in here is not set up completely. Your administrator can mend this.',
  },
  withdrawn: {
    title: 'You could not be signed in',
    words: 'What you signed in with has changed meanwhile. Start again with what is right now.',
  },
  disabled: {
    title: 'You could not be signed in',
    words: 'This account cannot sign in at the moment. Ask your administrator.',
  },
};

function sendRefusal(
  reply: FastifyReply,
  of: Of,
  { state, settings, because }: Pick<View, 'state' | 'settings'> & { because: string },
): FastifyReply {
  const { title = 'You could not be signed in', words = '' } = refusals[because] ?? {};
  const body = html`<div class="error" role="alert"><p>${words}</p></div>
${form(of, html`<button class="full" name="do" value="restart">Start again</button>`)}`;
  return sendPage(
    reply,
    { realm: of.realm, brand: settings, title, body },
    { ...formPolicy(state.purpose), status: 403 },
  );
}

/**
 * The form was not of a sign-in that is under way: too late, too many others since, or cookies are off.
 * @param again where what it was for is asked for anew
 */
export function sendExpired(
  reply: FastifyReply,
  realm: string,
  settings: RealmSettingsDto,
  again = `/realms/${realm}/login?for=account`,
): FastifyReply {
  const body = html`<p role="alert">It took too long, or other sign-ins were begun in this browser. Nothing is lost: go back to
the application that you came from and sign in there again, or start again here.</p>
<p class="hint">If this happens every time, allow cookies for this site.</p>
<div class="actions"><a class="button full" href="${again}">Start again</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: 'This sign-in has expired', body }, { status: 400 });
}
