// Interstitial pages: a form that submits itself to an application (OAuth's response mode form_post, SAML's POST
// binding), and a link that is followed automatically.
import type { FastifyReply } from 'fastify';
import { type Brand, type Html, html, sendPage } from './pages.ts';
import { text } from './texts.ts';

const SCRIPT = 'document.forms[0].submit();';

export interface SelfPosting {
  action: string;
  fields: Readonly<Record<string, string | undefined>>;
  /** Addresses or schemes to which the target may redirect the browser. */
  onward?: readonly string[];
}

/** For a target that may redirect the browser anywhere: Chromium applies the form's policy to redirects. */
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
/** Follows the link when the frames have loaded or failed. */
const FOLLOW_LATER = `addEventListener('load', () => ${FOLLOW.slice(0, -1)});`;

/** Invisible frames by which a page notifies applications. */
export const hiddenFrames = (addresses: readonly string[]): Html[] =>
  addresses.map((address) => html`<iframe src="${address}" title="" aria-hidden="true" hidden></iframe>\n`);

/** Continues to an address of this server. The policy of the page before doesn't apply to the redirects from there. */
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
