// Pages that lead on by themselves: a form that posts itself to an application (OAuth's response mode form_post, SAML's POST
// binding), and a link that is followed.
import type { FastifyReply } from 'fastify';
import { type Brand, type Html, html, sendPage } from './pages.ts';
import { text } from './texts.ts';

const SCRIPT = 'document.forms[0].submit();';

export interface SelfPosting {
  action: string;
  fields: Readonly<Record<string, string | undefined>>;
  /** Where it may lead on from there: addresses, or schemes. */
  onward?: readonly string[];
}

/** For a side that leads the browser on to wherever it likes: Chromium holds all of that against the form. */
export const anywhereFrom = (baseUrl: string): readonly string[] =>
  baseUrl.startsWith('http:') ? ['https:', 'http:'] : ['https:'];

export function sendForm(
  reply: FastifyReply,
  look: { realm: string; brand: Brand | undefined },
  { action, fields, onward = [] }: SelfPosting,
): FastifyReply {
  const inputs = Object.entries(fields).map(([name, value]) =>
    value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}">\n`,
  );
  const body = html`<form method="post" action="${action}">
${inputs}<p class="lead">${text('authorize.sentBack')}</p>
<div class="actions"><button>${text('authorize.goOn')}</button></div>
</form>`;
  const page = { ...look, title: text('authorize.oneMoment'), body, script: SCRIPT };
  return sendPage(reply, page, { formAction: [action, ...onward] });
}

const FOLLOW = "location.replace(document.querySelector('main a.button').href);";
/** When the frames have been loaded, or failed to. */
const FOLLOW_LATER = `addEventListener('load', () => ${FOLLOW.slice(0, -1)});`;

/** Invisible frames by which a page notifies applications. */
export const hiddenFrames = (addresses: readonly string[]): Html[] =>
  addresses.map((address) => html`<iframe src="${address}" title="" aria-hidden="true" hidden></iframe>\n`);

/** Goes on to an address of this server: what comes then is under no policy of the page that led here. */
export function sendOnward(
  reply: FastifyReply,
  look: { realm: string; brand: Brand | undefined },
  path: string,
  { frames = [], lead = text('saml.signingOut') }: { frames?: readonly string[]; lead?: string } = {},
): FastifyReply {
  const body = html`<p class="lead">${lead}</p>
${hiddenFrames(frames)}
<div class="actions"><a class="button" href="${path}">${text('authorize.goOn')}</a></div>`;
  const script = frames.length === 0 ? FOLLOW : FOLLOW_LATER;
  return sendPage(reply, { ...look, title: text('authorize.oneMoment'), body, script }, { frames });
}
