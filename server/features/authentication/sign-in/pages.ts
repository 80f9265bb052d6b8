// The pages of the sign-in: the frame around a step's form, refusals, and expired sign-ins. The frame has no script and no
// inline style; authenticators provide the contents of the forms.
import type { FastifyReply } from 'fastify';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { aboutClient, picturesOf } from '../../../http/about-client.ts';
import { noteAbove } from '../../../http/field-errors.ts';
import { type Html, html, isolated } from '../../../http/html.ts';
import { type Page, type PageOptions, sendPage } from '../../../http/pages.ts';
import { providerWays } from '../../../http/provider-ways.ts';
import { type PlainKey, plainText, text, textHtml, translated } from '../../../http/texts.ts';
import { waitingScript } from '../../../http/waiting-script.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import { inTab } from './cookie.ts';
import { idOf } from './judge.ts';
import type { Linked, View } from './service.ts';
import { isFromAccount, REGISTER } from './state.ts';

/** Any https address, because the application's callback may redirect to another origin. */
const ANY_HTTPS = 'https:';

/** The hidden fields of a form: its sign-in, and the request that starts again when the sign-in has expired. */
interface Of {
  realm: string;
  csrf: string;
  asked: string | undefined;
}

/** A form of the sign-in, with the token against forgery. */
const form = ({ realm, csrf, asked }: Of, inside: Html): Html =>
  html`<form method="post" action="/realms/${realm}/login" novalidate>
<input type="hidden" name="csrf" value="${csrf}">
${asked !== undefined && html`<input type="hidden" name="asked" value="${asked}">`}
${inside}
</form>`;

const restart = (of: Of, words: string): Html =>
  form(of, html`<button class="link" name="do" value="restart">${words}</button>`);

/** Leaves the sign-in. */
const cancel = (of: Of, words: string): Html =>
  form(of, html`<button class="link" name="do" value="cancel">${words}</button>`);

interface Ways {
  registry: readonly AuthenticatorRecord[];
  asked: string | undefined;
  tab: number;
  links: readonly { words: string; path: string }[];
  /** Whether an application waits for the sign-in, and learns that the user leaves it. */
  cancels: boolean;
}

export function sendStep(reply: FastifyReply, realm: string, view: View, ways: Ways): FastifyReply {
  const { page, options } = stepPage(realm, view, ways);
  return sendPage(reply, page, options);
}

export function stepPage(
  realm: string,
  { state, settings, nextStep, page, beside, asksDevice, csrf, mark }: View,
  { registry, asked, tab, links, cancels }: Ways,
): { page: Page; options: PageOptions } {
  const of = { realm, csrf, asked };
  if (nextStep.do === 'refused') return refusalPage(of, { state, settings, because: nextStep.because, cancels });
  if (!page || nextStep.do === 'finish') throw new Error('there is no step to show');
  if (state.is === 'refused' || state.is === 'done') throw new Error('it takes no more steps');
  const others = nextStep.do === 'ask' ? nextStep.others : [];
  const nameOf = (id: string) => translated(registry.find((r) => r.id === id)?.displayName ?? id);
  const current = nextStep.do === 'ask' ? nextStep.authenticatorId : undefined;
  // Methods with links of their own need no button. A flow may hold a method in several places: one button is enough.
  const choices = others.flatMap(({ executionId, authenticatorId }, index) => {
    const offer = beside.get(executionId);
    const isThere =
      authenticatorId === current || others.findIndex((one) => one.authenticatorId === authenticatorId) < index;
    return isThere || (offer && 'ways' in offer) ? [] : [{ executionId, authenticatorId, offer }];
  });
  const { complaint, purpose } = state;
  const waits = page.refreshSeconds;
  const script = scriptOf([
    ...(page.script === undefined ? [] : [page.script]),
    ...(waits === undefined ? [] : [waitingScript]),
    ...[...beside.values()].flatMap((one) => ('script' in one ? [one.script] : [])),
  ]);
  const user = state.is === 'known' ? state.user : undefined;
  const fromAccount = isFromAccount(realm, state);
  const registers = idOf(nextStep) === REGISTER;
  const about = user ? undefined : purpose.about;
  const body = html`${!user && lead(purpose.clientName, settings)}
${aboutClient(about)}
${noteAbove(complaint, page.body)}
${form(
  of,
  html`<input type="hidden" name="step" value="${idOf(nextStep)}">
${page.body}
${asksDevice && deviceBox(state.rememberDevice ?? false)}
${page.submit !== undefined && html`<button name="do" value="next">${page.submit}</button>`}
${page.below && html`<p class="choices">${page.below}</p>`}`,
)}
${providerWays([...beside.values()].flatMap((one) => ('ways' in one ? one.ways : [])))}
${
  (choices.length > 0 || registers || page.underWay || links.length > 0 || user || fromAccount || cancels) &&
  html`<div class="more">
${choices.map(({ executionId, authenticatorId, offer }) =>
  form(
    of,
    html`<input type="hidden" name="execution" value="${executionId}">${offer?.body}
<button class="link" name="do" value="choose">${offer?.words ?? text('signIn.useInstead', { method: nameOf(authenticatorId) })}</button>`,
  ),
)}
${registers && restart(of, text('register.signIn'))}
${!user && page.underWay && restart(of, text('signIn.startAgain'))}
${!registers && links.map(({ words, path }) => html`<a href="${path}">${words}</a>`)}
${
  fromAccount
    ? cancel(of, text('signIn.toAccount'))
    : user && restart(of, text('signIn.notYou', { username: user.username }))
}
${cancels && cancel(of, text('signIn.cancel'))}
</div>`
}${asksForPhone(nextStep) && lostPhone(choices.some((way) => !usesPhone(way)))}`;
  const title = complaint ? text('signIn.error', { title: page.title }) : page.title;
  const shown = { title: page.title, documentTitle: title, body, plain: page.plain, script, foreign: page.foreign };
  const waiting = waits === undefined ? undefined : { seconds: waits, mark, path: waitingPath(realm, tab) };
  const options = { ...formPolicy(purpose, page.formAction), images: picturesOf(about) };
  return { page: { realm, brand: settings, ...shown, waiting }, options };
}

/** Second factors that users usually have on their phone. */
const onPhones: readonly string[] = ['otp', 'push', 'sms-otp'];
const asksForPhone = (step: View['nextStep']): boolean =>
  step.do === 'ask' && !step.enrol && onPhones.includes(step.authenticatorId);

/** Methods that need the phone, too, or another registered device. */
const usesPhone = ({ authenticatorId }: { authenticatorId: string }): boolean =>
  onPhones.includes(authenticatorId) || authenticatorId === 'qr';

/** @param offersWay the page offers a method that needs no phone */
const lostPhone = (offersWay: boolean): Html => html`
<details class="lost"><summary>${text('signIn.lostPhone')}</summary>
<p>${text(offersWay ? 'signIn.lostPhoneHelp' : 'signIn.lostPhoneAsk')}</p></details>`;

/** Each script once: a page has one script element. */
const scriptOf = (all: readonly string[]): string | undefined =>
  all.length === 0 ? undefined : [...new Set(all)].join('\n');

/** The address at which a waiting page checks for another page. */
const waitingPath = (realm: string, tab: number): string => inTab(`/realms/${realm}/login/waiting`, tab);

/** The hidden field `deviceAsked` marks a form that had the box: without it the user's earlier choice stays. */
const deviceBox = (ticked: boolean): Html => html`<div class="check">
<input type="hidden" name="deviceAsked" value="1">
<input type="checkbox" id="device" name="device" value="on"${ticked && html` checked`}>
<label for="device">${text('signIn.rememberDevice')}</label>
</div>`;

/** Steps whose link proves an address. */
const provesAddress: readonly string[] = ['VERIFY_EMAIL', REGISTER, BY_PROVIDER];

/** The page that a mailed link opens. */
export function sendLink(
  reply: FastifyReply,
  realm: string,
  settings: RealmSettingsDto,
  { token, linked }: { token: string; linked: Linked | undefined },
): FastifyReply {
  if (!linked) {
    const body = html`<p role="alert">${text('link.uselessLead')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login">${text('recover.goOn')}</a></div>`;
    return sendPage(reply, { realm, brand: settings, title: text('link.useless'), body }, { status: 400 });
  }
  const isAddress = provesAddress.includes(linked.step);
  const body = form(
    { realm, csrf: linked.csrf, asked: undefined },
    html`<input type="hidden" name="step" value="${linked.step}">
<input type="hidden" name="link" value="${token}">
<p class="lead">${isAddress ? text('verify.linkLead') : text('link.lead')}</p>
<button class="full" name="do" value="next">${isAddress ? text('verify.confirm') : text('password.submit')}</button>`,
  );
  const title = isAddress ? text('verify.title') : text('password.title');
  return sendPage(reply, { realm, brand: settings, title, body }, formPolicy(linked));
}

const formPolicy = ({ redirectTo }: { redirectTo?: string | undefined }, more: readonly string[] = []) => ({
  formAction: [...(redirectTo === undefined ? [] : [redirectTo, ANY_HTTPS]), ...more],
});

/** The application's name, then the realm's own text, whose language may have another direction than the page. */
const lead = (clientName: string | undefined, { welcomeText, defaultLocale }: RealmSettingsDto): Html =>
  html`${clientName !== undefined && html`<p class="lead">${textHtml('signIn.continueTo', { application: isolated(clientName) })}</p>`}
${!!welcomeText && html`<p class="lead" dir="auto" lang="${defaultLocale}">${welcomeText}</p>`}`;

const refusals: Record<string, { title: PlainKey; why: PlainKey }> = {
  risk: { title: 'signIn.risk', why: 'signIn.riskWhy' },
  'no-second-factor': { title: 'signIn.noSecondFactor', why: 'signIn.noSecondFactorWhy' },
  exhausted: { title: 'signIn.failed', why: 'signIn.exhaustedWhy' },
  'nothing-to-do': { title: 'signIn.nothingToDo', why: 'signIn.nothingToDoWhy' },
  withdrawn: { title: 'signIn.failed', why: 'signIn.withdrawnWhy' },
  denied: { title: 'signIn.denied', why: 'signIn.deniedWhy' },
  disabled: { title: 'signIn.failed', why: 'signIn.disabledWhy' },
};

function refusalPage(
  of: Of,
  { state, settings, because, cancels }: Pick<View, 'state' | 'settings'> & { because: string; cancels: boolean },
): { page: Page; options: PageOptions } {
  const refusal = refusals[because];
  const title = plainText(refusal?.title ?? 'signIn.failed');
  const body = html`<div class="error" role="alert"><p>${refusal && plainText(refusal.why)}</p></div>
${form(of, html`<button class="full" name="do" value="restart">${text('signIn.startAgain')}</button>`)}
${cancels && html`<div class="more">${cancel(of, text('signIn.cancel'))}</div>`}`;
  return {
    page: { realm: of.realm, brand: settings, title, body },
    options: { ...formPolicy(state.purpose), status: 403 },
  };
}

/**
 * The form belongs to no running sign-in: it has expired, was pushed out by newer ones, or cookies are off.
 * @param again the address that starts the same request again
 */
export function sendExpired(
  reply: FastifyReply,
  realm: string,
  settings: RealmSettingsDto,
  again = `/realms/${realm}/login?for=account`,
): FastifyReply {
  const body = html`<p role="alert">${text('signIn.expiredWhy')}</p>
<p class="hint">${text('signIn.cookies')}</p>
<div class="actions"><a class="button full" href="${again}">${text('signIn.startAgain')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('signIn.expired'), body }, { status: 400 });
}
