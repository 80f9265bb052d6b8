// The surface for users' browsers: page layout, a strict CSP, the style sheets, and errors as pages. It knows no page's
// content (features/*/pages.ts). Decisions "Errors": browser endpoints show a page. Specification 2.3 branding.

import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type ProblemCode, problems } from '../contract/problem.ts';
import type { Settings } from '../contract/settings.ts';
import { actingNotice } from './acting-notice.ts';
import { darkenedColour, parseHex, type Rgb, readableOn, textOn, toHex, visibleOn } from './colours.ts';
import { Html, html } from './html.ts';
import { nameOf } from './languages.ts';
import { pageStyle } from './page-style.ts';
import { pathRealm } from './path-realm.ts';
import { logProblem, problemOf } from './problems.ts';
import { currentLanguage, offeredLanguages } from './spoken.ts';
import { type PlainKey, plainText, text, translated } from './texts.ts';

export { Html, html } from './html.ts';

/** The realm's settings that its pages show. */
export type Brand = Pick<
  Settings,
  'displayName' | 'logoUrl' | 'primaryColor' | 'backgroundColor' | 'welcomeText' | 'customCss' | 'defaultLocale'
>;

export interface Page {
  /** Realm and brand of the page; without them the page has the product's own brand. */
  realm?: string | undefined;
  brand?: Brand | undefined;
  title: string;
  /** The title of the browser's tab, if it differs from the heading. */
  documentTitle?: string | undefined;
  body: Html;
  /** The page shows a secret, or asks for consent or a new password: no custom CSS, which could read or disguise that. */
  plain?: boolean | undefined;
  /**
   * The address for another language, if the page's own address is valid only once; null: there is none, so the page
   * offers no choice.
   */
  back?: string | null | undefined;
  /** The account page is wider than a form. */
  wide?: boolean;
  /** The text of the page's only script; the page's policy permits no other. */
  script?: string | undefined;
  /** The page's content from other sites. */
  foreign?: Foreign | undefined;
  /** The page waits: its script (waiting-script.ts) requests `path` every few seconds until the answer isn't `mark`. */
  waiting?: { seconds: number; mark: string | undefined; path: string } | undefined;
}

/** A script of another site on a page, with the permissions that it needs in the page's policy. */
export interface Foreign {
  script: string;
  /** By directive, in addition to the page's own sources. */
  sources: Readonly<Record<string, readonly string[]>>;
}

export interface PageOptions {
  status?: number;
  /** Where a form post may be redirected to besides this server: Chromium checks form-action on redirects too. */
  formAction?: readonly string[];
  /** Addresses that the page loads in frames. */
  frames?: readonly string[];
  /** Addresses of pictures on the page, in addition to the realm's logo. */
  images?: readonly string[];
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16);
const STYLE_PATH = `/assets/pages.${digest(pageStyle)}.css`;
const YEAR_SECONDS = 31_536_000;
const DEFAULT_PRIMARY = '#2f5bd7';
const LIGHT_CARD: Rgb = [255, 255, 255];
const DARK_CARD: Rgb = [27, 31, 39];

/** The realm's colours as custom properties, with readable text colours for them; then its own CSS in a layer of its own. */
export function themeCss({ primaryColor, backgroundColor, customCss }: Brand): string {
  const primary = parseHex(primaryColor ?? DEFAULT_PRIMARY);
  const on = (card: Rgb) => `--link:${toHex(readableOn(primary, card))};--mark:${toHex(visibleOn(primary, card))};`;
  const page = (colour: (given: Rgb) => Rgb) =>
    backgroundColor === null ? '' : `--page:${toHex(colour(parseHex(backgroundColor)))};`;
  return [
    '@layer pages{',
    `:root{--primary:${toHex(primary)};--on-primary:${toHex(textOn(primary))};${on(LIGHT_CARD)}${page((given) => given)}}`,
    `@media (prefers-color-scheme:dark){:root{${on(DARK_CARD)}${page(darkenedColour)}}}`,
    '}',
    ...(customCss === null ? [] : ['@layer realm{', customCss, '}']),
  ].join('\n');
}

/** The digests of brands, which take longer to compute than the rest of a page. */
const digests = new WeakMap<Brand, string>();
function themePath(realm: string, brand: Brand, plain: boolean): string {
  const known = digests.get(brand) ?? digest(themeCss(brand));
  digests.set(brand, known);
  return `/realms/${realm}/${plain ? 'colours' : 'theme'}.css?v=${known}`;
}

/** A form with a button for each of the realm's languages, which works without a script and leads back to `back`. */
export function languageForm(realm: string, tags: readonly string[], back: string): Html {
  const { tag: now } = currentLanguage();
  return html`<details class="language"><summary>${text('language.title')}: <span lang="${now}">${nameOf(now)}</span></summary>
<form method="post" action="/realms/${realm}/language"><input type="hidden" name="back" value="${back}">
${tags.map((tag) => html`<button class="link" name="locale" value="${tag}" lang="${tag}"${tag === now && html` aria-current="true"`}>${nameOf(tag)}</button>\n`)}</form></details>`;
}

/** The choice of a language, on pages that have an address for it. */
function languageSwitch(reply: FastifyReply, back: Page['back']): Html | false {
  const { request } = reply;
  const realm = pathRealm(request);
  const url = request.routeOptions.url;
  const tags = offeredLanguages();
  if (realm === undefined || tags.length < 2 || url === undefined || back === null) return false;
  if (!reply.server.hasRoute({ method: 'GET', url })) return false;
  return languageForm(realm, tags, back ?? request.url);
}

/** The parts around a page's own content. */
interface Frame {
  languages?: Html | false;
  notice?: Html | false;
  /** In place of the addresses of the style sheets. */
  head?: Html;
  /** In place of the language's direction. */
  rightToLeft?: boolean | undefined;
}

export function layout(
  { realm, brand, title, documentTitle, body, wide, plain = false, script, foreign, waiting }: Page,
  { languages = false, notice = false, head, rightToLeft }: Frame = {},
): Html {
  const language = currentLanguage();
  const name = brand?.displayName ?? 'Realmkeeper';
  const theme = realm && brand ? html`<link rel="stylesheet" href="${themePath(realm, brand, plain)}">` : undefined;
  const mark = brand?.logoUrl
    ? html`<img class="logo" src="${brand.logoUrl}" alt="${name}" referrerpolicy="no-referrer">`
    : html`<bdi class="name">${name}</bdi>`;
  return html`<!doctype html>
<html lang="${language.tag}"${(rightToLeft ?? language.rightToLeft) && html` dir="rtl"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${documentTitle ?? title} &ndash; ${name}</title>
<link rel="icon" href="data:,">
${head ?? html`<link rel="stylesheet" href="${STYLE_PATH}">\n${theme}`}
${waiting && html`<noscript><meta http-equiv="refresh" content="${String(waiting.seconds)}"></noscript>`}
</head>
<body>
<main class="card${wide ? ' wide' : ''}"${waiting && html` data-waiting="${waiting.path}" data-mark="${waiting.mark}" data-seconds="${String(waiting.seconds)}"`}>
${notice}
<header class="brand">${mark}</header>
<h1>${title}</h1>
${body}
${languages}
</main>
${script !== undefined && html`<script>${new Html(script)}</script>`}
${foreign && html`<script src="${foreign.script}" async></script>`}
</body>
</html>
`;
}

/**
 * A CSP source for an address: its origin, or its scheme if it has none (a native app's redirect). A scheme stays
 * itself.
 */
export function cspSource(address: string): string {
  if (/^[a-z][a-z0-9+.-]*:$/i.test(address)) return address;
  const { protocol, origin } = new URL(address);
  // A host may contain characters that end a directive or a policy, or a wildcard.
  return /^https?:$/.test(protocol) && !/[;,*]/.test(origin) ? origin : protocol;
}

/** Cached CSP sources of scripts, of which there are few. */
const scriptSources = new Map<string, string>();
function scriptSource(script: string): string {
  const known = scriptSources.get(script) ?? `'sha256-${hash('sha256', script, 'base64')}'`;
  scriptSources.set(script, known);
  return known;
}

function policy(
  { brand, script, foreign, waiting }: Page,
  { formAction = [], frames = [], images = [] }: PageOptions,
): string {
  // A scheme as a source would permit every host.
  const hosts = [...(brand?.logoUrl ? [brand.logoUrl] : []), ...images]
    .map(cspSource)
    .filter((of) => of.includes('//'));
  const directives = [
    "default-src 'none'",
    "style-src 'self'",
    ["img-src 'self' data:", ...new Set(hosts)].join(' '),
    `form-action ${["'self'", ...formAction.map(cspSource)].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ...(frames.length === 0 ? [] : [`frame-src ${[...new Set(frames.map(cspSource))].join(' ')}`]),
    ...(waiting ? ["connect-src 'self'"] : []),
    ...(script === undefined ? [] : [`script-src ${scriptSource(script)}`]),
  ];
  return widened(directives, foreign?.sources ?? {}).join('; ');
}

/** The directives with further sources. */
function widened(directives: readonly string[], sources: Foreign['sources']): string[] {
  const nameOf = (directive: string) => directive.slice(0, directive.indexOf(' '));
  const named = new Set(directives.map(nameOf));
  const added = Object.entries(sources).filter(([name]) => !named.has(name));
  return [
    ...directives.map((one) => [one, ...(sources[nameOf(one)] ?? [])].join(' ')),
    ...added.map(([name, list]) => [name, ...list].join(' ')),
  ];
}

/** Sends a page: never stored, never framed, without foreign scripts, and its address is not sent to other sites. */
export function sendPage(reply: FastifyReply, page: Page, options: PageOptions = {}): FastifyReply {
  return reply
    .code(options.status ?? 200)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy(page, options))
    .header('x-frame-options', 'DENY')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .serializer((body: unknown) => String(body))
    .send(layout(page, { languages: languageSwitch(reply, page.back), notice: actingNotice(reply.request) }).text);
}

/** Descriptions end without a full stop, like RFC 6749's; on a page they are sentences. */
export function sentence(words: string): string {
  if (/[.!?。！？؟]$/u.test(words)) return words;
  return `${words}${/^(?:ja|zh)\b/.test(currentLanguage().tag) ? '。' : '.'}`;
}

/** Whether a browser opens the address: programs accept JSON, or anything. */
export const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');

/** The titles of problems on pages. */
const titles: Partial<Record<ProblemCode, PlainKey>> = {
  'csrf-mismatch': 'error.outdated',
  'not-found': 'said.notFound',
  forbidden: 'said.forbidden',
  'invalid-request': 'said.invalid',
  'method-not-allowed': 'said.methodNotAllowed',
  'too-large': 'said.tooLarge',
  'unsupported-media-type': 'said.unsupportedMediaType',
  'too-many-requests': 'said.tooMany',
  'wrong-state': 'said.wrongState',
  internal: 'said.internal',
  unavailable: 'said.unavailable',
};
function titleOf(code: ProblemCode): string {
  const key = titles[code];
  return key === undefined ? problems[code].title : plainText(key);
}

/** A problem as a page: what happened, in words that the caller may know, and what to do next. */
export function sendProblemPage(
  reply: FastifyReply,
  problem: Problem,
  look: Pick<Page, 'realm' | 'brand'> & { next?: Html | undefined } = {},
): FastifyReply {
  const title = titleOf(problem.code);
  const { next, ...page } = look;
  const account =
    page.realm !== undefined &&
    html`
<div class="actions"><a class="button quiet" href="/realms/${page.realm}/account">${text('error.goToAccount')}</a></div>`;
  const body = html`<p role="alert">${sentence(problem.words === undefined ? text('error.nothingMore') : translated(problem.words))}</p>
${next ?? html`<p>${text('error.goBack')}</p>${account}`}`;
  if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
  return sendPage(reply, { ...page, title, body }, { status: problem.status });
}

/** Fastify's error handler of a plugin with pages. If `brandOf` fails or returns nothing, the page is plain. */
export const pageErrors =
  (brandOf: (realm: string) => Promise<Brand | undefined>) =>
  async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const problem = problemOf(error);
    logProblem(request, problem);
    const realm = pathRealm(request);
    const brand = realm && (await brandOf(realm).catch(() => undefined));
    return sendProblemPage(reply, problem, brand ? { realm, brand } : {});
  };

/** Serves the style sheets from this origin, so that the pages need no inline styles. */
export function mountPageAssets(
  app: FastifyInstance,
  { brandOf }: { brandOf: (realm: string) => Promise<Brand | undefined> },
): void {
  const send = (reply: FastifyReply, css: string, maxAge: number) =>
    reply
      .header('content-type', 'text/css; charset=utf-8')
      .header('cache-control', `public, max-age=${maxAge}, immutable`)
      .serializer((body: unknown) => String(body))
      .send(css);
  app.get(STYLE_PATH, { schema: { hide: true } }, (_, reply) => send(reply, pageStyle, YEAR_SECONDS));
  // The address carries a digest of the theme, so a change has another address.
  app.get('/realms/:realm/theme.css', { schema: { hide: true } }, async (request, reply) => {
    const brand = await brandOf(pathRealm(request) ?? '');
    if (!brand) throw new Problem('not-found');
    return send(reply, themeCss(brand), YEAR_SECONDS);
  });
  app.get('/realms/:realm/colours.css', { schema: { hide: true } }, async (request, reply) => {
    const brand = await brandOf(pathRealm(request) ?? '');
    if (!brand) throw new Problem('not-found');
    return send(reply, themeCss({ ...brand, customCss: null }), YEAR_SECONDS);
  });
}
