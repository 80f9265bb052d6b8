// An application's picture and links, on pages where a user decides whether to continue. OpenID Connect Dynamic Client
// Registration §2: logo_uri, client_uri, policy_uri, tos_uri. All of it is foreign content: only https, and without a
// reference back to the page.
import { z } from 'zod';
import { type Html, html, isolated } from './html.ts';
import { text } from './texts.ts';

const address = z.string().nullable();
export const AboutClient = z.object({
  logo: address,
  home: address,
  policy: address,
  terms: address,
  /** The host that a self-registered application leads to. Its other data is unverified. */
  host: z.string().optional(),
});
export type AboutClient = z.infer<typeof AboutClient>;

/** The parts to show; undefined if there are none. */
export const aboutOf = (about: AboutClient): AboutClient | undefined =>
  Object.values(about).some((one) => one !== null) ? about : undefined;

/** For a self-registered client: adds the host of its redirect URI, which is the only verified data about it. */
export const withHost = (about: AboutClient | undefined, redirectUri: string): AboutClient => {
  const { host, protocol } = new URL(redirectUri);
  return { ...(about ?? { logo: null, home: null, policy: null, terms: null }), host: host || protocol };
};

/** The addresses of pictures that the page loads. */
export const picturesOf = (about: AboutClient | undefined): string[] => (about?.logo ? [about.logo] : []);

const initialOf = (name: string): string => [...name.trim()][0]?.toLocaleUpperCase() ?? '';

/** The first character of a name, for applications and providers without a picture. */
export const monogram = (name: string): Html =>
  html`<span class="monogram" aria-hidden="true">${initialOf(name)}</span>`;

/** A picture beside the name. If it doesn't load, the style sheet shows its `alt` in place of it. */
export const picture = (address: string, name: string): Html =>
  html`<img class="picture" src="${address}" alt="${initialOf(name)}" aria-hidden="true" referrerpolicy="no-referrer">`;

/** The application's picture, or its initial, beside its name. */
export const clientMark = (name: string, about: AboutClient | undefined): Html =>
  html`<div class="asks">${
    about?.logo ? picture(about.logo, name) : monogram(name)
  }<div><strong>${isolated(name)}</strong>${about?.host !== undefined && html`<br><strong>${about.host}</strong>`}</div></div>`;

export function aboutClient(about: AboutClient | undefined): Html | false {
  if (!about || Object.values(about).every((one) => one === null || one === undefined)) return false;
  const { logo, home, policy, terms, host } = about;
  const said: [string | null, string][] = [
    [home, text('client.home')],
    [policy, text('client.policy')],
    [terms, text('client.terms')],
  ];
  const links = said.flatMap(([to, words]) =>
    to === null ? [] : html`<a href="${to}" target="_blank" rel="noopener noreferrer nofollow">${words}</a>\n`,
  );
  return html`<div class="application">
${logo !== null && html`<img src="${logo}" alt="" referrerpolicy="no-referrer">`}
${host !== undefined && html`<strong>${host}</strong>\n`}${links}</div>`;
}
