// A password field with a button that shows what is typed. Without JavaScript the button stays hidden.
import { Html, html } from './html.ts';
import { text } from './texts.ts';

const eye = new Html(
  '<svg viewBox="0 0 24 24" width="22" height="22" fill="none" stroke="currentColor" stroke-width="1.75" aria-hidden="true">' +
    '<path d="M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12z"/><circle cx="12" cy="12" r="3"/><path class="slash" d="M4 4l16 16"/></svg>',
);

/** @param input the password field */
export const withReveal = (input: Html): Html => html`<div class="revealed">${input}
<button type="button" class="reveal" data-reveal aria-pressed="false" hidden>${eye}<span class="hidden">${text('password.show')}</span></button></div>`;

/** A submitted field is a password field again, so that no browser offers the password as an earlier entry. */
export const revealScript = `(() => {
for (const button of document.querySelectorAll('[data-reveal]')) {
  const field = button.previousElementSibling;
  const show = (is) => {
    field.type = is ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(is));
  };
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  field.form.addEventListener('submit', () => show(false));
}
})();`;
