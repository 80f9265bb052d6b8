// The realm's terms of use on a page: the link to them, and the version that the page shows, so that a user can't accept terms that
// changed meanwhile.
import type { Settings } from '../contract/settings.ts';
import { type Faults, noteAt } from './field-errors.ts';
import { type Html, html, isolated } from './html.ts';
import { text, textHtml } from './texts.ts';

type Fields = Pick<Settings, 'termsUrl' | 'termsVersion'>;
type Form = Readonly<Record<string, string>>;
/** The terms' address and version. */
export interface Terms {
  url: string | null;
  version: string | null;
}

/** The terms that a new user accepts; undefined if the realm has none. */
export const termsOf = ({ termsUrl: url, termsVersion: version }: Fields): Terms | undefined =>
  url === null && version === null ? undefined : { url, version };

const written = ({ termsUrl, termsVersion }: Fields): string => [termsVersion ?? '', termsUrl ?? ''].join(' ');

/** Whether the form came from a page on which {@link shownTerms} showed the same terms. */
export const areShown = (settings: Fields, form: Form): boolean => form.accepted === written(settings);

export const shownTerms = (settings: Fields): Html =>
  html`<input type="hidden" name="accepted" value="${written(settings)}">`;

export function termsLink({ termsUrl, displayName }: Settings): Html {
  const words = textHtml('terms.of', { realm: isolated(displayName) });
  return termsUrl === null ? words : html`<a href="${termsUrl}" target="_blank" rel="noopener noreferrer">${words}</a>`;
}

/**
 * The checkbox to accept the terms; false if the realm has none.
 * @param form the form as it was sent: the box stays ticked if it was ticked for this version
 * @param state further attributes of the box
 */
export const termsBox = (
  settings: Settings,
  form: Form,
  state: Html | false,
  faults: Faults = new Map(),
): Html | false =>
  termsOf(settings) !== undefined &&
  html`${shownTerms(settings)}<div class="check">
<input type="checkbox" id="terms" name="terms" value="on" required${form.terms === 'on' && areShown(settings, form) && html` checked`}${state}>
<label for="terms">${textHtml('register.terms', { terms: termsLink(settings) })}${
    settings.termsVersion !== null &&
    html` <span class="hint">${text('terms.version', { version: settings.termsVersion })}</span>`
  }</label>
</div>
${noteAt(faults, 'terms')}`;

/** Why a form with {@link termsBox} doesn't accept the terms, in words; undefined: it does, or there are none. */
export function termsFault(settings: Fields, form: Form): string | undefined {
  if (!termsOf(settings)) return undefined;
  if (form.terms !== 'on') return text('register.acceptFirst');
  return areShown(settings, form) ? undefined : text('terms.changed');
}
