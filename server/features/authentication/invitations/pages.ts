// The pages of an invitation: sign in and join, or create an account; done; no longer valid.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { errorNote, type FieldFault, faultsOf, invalidState, noteAbove } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { passwordFields } from '../../../http/password-fields.ts';
import { passwordScript } from '../../../http/password-script.ts';
import { type ProfileInput, profileFields, usernameField, valuesIn } from '../../../http/profile-fields.ts';
import { signUpWays, signUpWaysScript } from '../../../http/sign-up-ways.ts';
import { termsBox } from '../../../http/terms.ts';
import { text } from '../../../http/texts.ts';
import type { StepPage } from '../authenticators/authenticator.ts';
import type { InvitationRow } from './store.ts';

export interface InvitationPage {
  realm: string;
  settings: RealmSettingsDto;
  token: string;
}
type Invited = Pick<InvitationRow, 'email' | 'organizationName'>;
type Values = Readonly<Record<string, string>>;
interface Choice {
  inputs: readonly ProfileInput[];
  /** Whether the account may have a passkey instead of a password. */
  takesPasskey: boolean;
  faults?: readonly FieldFault[];
  /** The values that the user entered. */
  values?: Values;
}

const titleOf = ({ settings }: Pick<InvitationPage, 'settings'>, { organizationName }: Invited): string =>
  text('invitation.title', { organization: organizationName ?? settings.displayName });
const form = ({ realm, token }: InvitationPage, to: string, inside: Html): Html =>
  html`<form method="post" action="/realms/${realm}/login/invitation/${to}" novalidate>
<input type="hidden" name="token" value="${token}">
${inside}
</form>`;

/** For a user signed in with the invited address. */
export function sendJoin(reply: FastifyReply, place: InvitationPage, invited: Invited, username: string): FastifyReply {
  const { realm, settings } = place;
  const organization = invited.organizationName ?? settings.displayName;
  const body = html`<p class="lead">${text('invitation.joinAs', { username })}</p>
${form(place, 'accept', html`<button>${text('invitation.join', { organization })}</button>`)}`;
  return sendPage(reply, { realm, brand: settings, title: titleOf(place, invited), body });
}

/** For a user signed in with another address. */
export function sendAnother(
  reply: FastifyReply,
  place: InvitationPage,
  invited: Invited,
  username: string,
): FastifyReply {
  const { realm, settings } = place;
  const body = html`<p role="alert">${text('invitation.another', { email: invited.email, username })}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/account">${text('invitation.account')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: titleOf(place, invited), body }, { status: 403 });
}

/** For a visitor without a session. The page is the same whether the address has an account or not. */
export function sendChoice(
  reply: FastifyReply,
  place: InvitationPage,
  invited: Invited,
  { inputs, takesPasskey, faults: found = [], values = {} }: Choice,
): FastifyReply {
  const { realm, settings } = place;
  const { email } = invited;
  const focus = found[0]?.field;
  const faults = faultsOf(undefined, found);
  const state = (field: string): Html =>
    html`${faults.has(field) && invalidState(field)}${field === focus && html` autofocus`}`;
  const title = titleOf(place, invited);
  const register = form(
    place,
    'register',
    html`${!settings.registrationEmailAsUsername && usernameField(values.username, state('username'), faults)}
${profileFields(inputs, valuesIn(inputs, values), { faults, focus })}
${takesPasskey && signUpWays(values.how)}
<div data-password>
${passwordFields(settings, { isFirst: true, faults, focus: focus === 'password' || focus === 'repeated' })}
</div>
${termsBox(settings, values, state('terms'), faults)}
<button>${text('register.submit')}</button>`,
  );
  const body = html`${found.flatMap((fault) => noteAbove(fault, register) || [])}
<p class="lead">${text('invitation.have', { email })}</p>
${form(place, 'sign-in', html`<button>${text('recover.goOn')}</button>`)}
<p class="lead">${text('invitation.new', { email })}</p>
${register}`;
  const documentTitle = found.length > 0 ? text('signIn.error', { title }) : title;
  const script = [passwordScript, ...(takesPasskey ? [signUpWaysScript] : [])].join('\n');
  return sendPage(reply, { realm, brand: settings, title, documentTitle, body, plain: true, script });
}

/** For a new user who wants a passkey. @param values the values entered before */
export function sendPasskey(
  reply: FastifyReply,
  place: InvitationPage,
  { page, wrong, values }: { page: StepPage; wrong: Pick<FieldFault, 'message'> | undefined; values: Values },
): FastifyReply {
  const { realm, settings } = place;
  const { title, submit = title, script } = page;
  const filledIn = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const instead = html`<p class="choices"><button class="link" name="instead" value="1" data-instead>${text('register.instead')}</button></p>`;
  const body = html`${wrong && errorNote('form', wrong.message)}
${form(place, 'register', html`${filledIn}${page.body}<button>${submit}</button>${instead}`)}`;
  const documentTitle = wrong ? text('signIn.error', { title }) : title;
  return sendPage(reply, { realm, brand: settings, title, documentTitle, body, plain: true, script });
}

export function sendDone(
  reply: FastifyReply,
  { realm, settings }: Omit<InvitationPage, 'token'>,
  { message, to, words }: { message: string; to: string; words: string },
): FastifyReply {
  const body = html`<p class="lead" role="status">${message}</p>
<div class="actions"><a class="button full" href="${to}">${words}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('invitation.doneTitle'), body });
}

export function sendOver(reply: FastifyReply, { realm, settings }: Omit<InvitationPage, 'token'>): FastifyReply {
  const body = html`<p role="alert">${text('invitation.over')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('link.useless'), body }, { status: 400 });
}
