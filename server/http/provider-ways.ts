// The links to identity providers on a sign-in page, each with a mark. Microsoft's mark is four squares; other makers'
// marks are theirs to draw, so their providers show an initial.
import { monogram } from './about-client.ts';
import { Html, html } from './html.ts';

export interface ProviderWay {
  words: string;
  path: string;
  /** The provider's name, whose initial is its mark. */
  title: string;
  /** The host of the provider's addresses, if its configuration has one. */
  host: string | undefined;
}

const microsoft = new Html(
  '<svg viewBox="0 0 23 23" width="20" height="20" aria-hidden="true"><path fill="#f25022" d="M1 1h10v10H1z"/>' +
    '<path fill="#7fba00" d="M12 1h10v10H12z"/><path fill="#00a4ef" d="M1 12h10v10H1z"/><path fill="#ffb900" d="M12 12h10v10H12z"/></svg>',
);
const marks: ReadonlyMap<string, Html> = new Map([
  ['login.microsoftonline.com', microsoft],
  ['login.live.com', microsoft],
]);

export const providerWays = (ways: readonly ProviderWay[]): Html | false =>
  ways.length > 0 &&
  html`<div class="ways">
${ways.map(({ words, path, title, host }) => html`<a class="button quiet" href="${path}">${marks.get(host ?? '') ?? monogram(title)}<span>${words}</span></a>\n`)}</div>`;
