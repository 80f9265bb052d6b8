// POST …/users/{userId}/enrollment-links, and the page that the link opens. GET changes nothing, because mail scanners open
// links, too.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createEnrolmentLink, deleteEnrolmentLink } from '../../../contract/enrolment-links.ts';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import { principalOf } from '../../../domain/principal.ts';
import { isFromElsewhere, siteOf } from '../../../domain/site.ts';
import { bind } from '../../../http/bind.ts';
import { errorNote } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';
import type { MustCover } from '../../people/users/service.ts';
import type { Complaint } from '../authenticators/authenticator.ts';
import type { Arrival, EnrolmentLinks, SetUp } from './service.ts';

interface Settings {
  of(realm: string): Promise<RealmSettingsDto | undefined>;
}

export function enrolmentLinkRoutes(
  admin: FastifyInstance,
  {
    links,
    mustCover,
    settings,
    baseUrl,
  }: { links: EnrolmentLinks; mustCover: MustCover; settings: Settings; baseUrl: string },
): void {
  bind(admin, createEnrolmentLink, async ({ params: { realm, userId }, body, by, request }) => {
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', `There is no realm ${realm}`);
    const { origin } = siteOf(request, policy, baseUrl);
    return links.make({ principal: principalOf(request), by, origin, mustCover }, realm, userId, body);
  });
  bind(admin, deleteEnrolmentLink, async ({ params: { realm, userId }, by, request }) => {
    await links.end({ principal: principalOf(request), by, mustCover }, realm, userId);
    return undefined;
  });
}

const FIELD_MAX = 12_000;
const Params = z.object({ realm: z.string() });
const token = z.string().max(200).catch('');
const Query = z.object({ token, done: z.string().optional().catch(undefined) });
const Fields = z.record(z.string().max(100), z.string().max(FIELD_MAX)).catch({});
/** The prefix of the hidden form fields with the page's state, which separates them from the method's own fields. */
const KEPT = 'kept.';

export function enrolmentLinkPages(
  pages: FastifyInstance,
  {
    links,
    settings,
    access: { stillMay },
    baseUrl,
  }: { links: EnrolmentLinks; settings: Settings; access: Pick<AdminRights, 'stillMay'>; baseUrl: string },
): void {
  const path = '/realms/:realm/login/enrol';

  async function arrival(request: FastifyRequest, token: string): Promise<Arrival> {
    const { realm } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    const site = siteOf(request, policy, baseUrl);
    return { realm, settings: policy, token, ipAddress: request.ip, site, stillMay };
  }

  pages.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { token: given, done } = Query.parse(request.query);
    const at = await arrival(request, given);
    if (done !== undefined) return sendDone(reply, at);
    const found = await links.look(at);
    return found ? sendSetUp(reply, at, found, undefined) : sendUseless(reply, at);
  });

  pages.post(path, { schema: { hide: true } }, async (request, reply) => {
    const { token: given = '', ...form } = Fields.parse(request.body ?? {});
    const at = await arrival(request, given);
    if (isFromElsewhere(request, at.site)) throw new Problem('csrf-mismatch', text('recover.elsewhere'));
    const kept = Object.entries(form).flatMap(([name, value]) =>
      name.startsWith(KEPT) ? [[name.slice(KEPT.length), value]] : [],
    );
    const used = await links.use(at, form, Object.fromEntries(kept));
    if (used.do === 'over') return sendUseless(reply, at);
    if (used.do === 'again') return sendSetUp(reply, at, used, used.complaint);
    return reply.redirect(`/realms/${at.realm}/login/enrol?done=1`, 303);
  });
}

function sendSetUp(
  reply: FastifyReply,
  { realm, settings, token }: Arrival,
  { page: { title, body, submit = title, script, keep = {} }, username }: SetUp,
  complaint: Complaint | undefined,
): FastifyReply {
  const kept = Object.entries(keep).map(
    ([name, value]) => html`<input type="hidden" name="${KEPT}${name}" value="${value}">`,
  );
  const inside = html`${complaint && errorNote(complaint.field, complaint.message)}
<p class="lead">${text('enrolmentLink.for', { username })}</p>
<form method="post" action="/realms/${realm}/login/enrol" novalidate>
<input type="hidden" name="token" value="${token}">
${kept}${body}
<button name="do" value="next">${submit}</button>
</form>`;
  const documentTitle = complaint ? text('signIn.error', { title }) : title;
  return sendPage(reply, { realm, brand: settings, title, documentTitle, body: inside, plain: true, script });
}

function sendDone(reply: FastifyReply, { realm, settings }: Arrival): FastifyReply {
  const body = html`<p class="lead" role="status">${text('enrolmentLink.done')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('enrolmentLink.doneTitle'), body });
}

function sendUseless(reply: FastifyReply, { realm, settings }: Arrival): FastifyReply {
  const body = html`<p role="alert">${text('enrolmentLink.over')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('recover.goOn')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('link.useless'), body }, { status: 400 });
}
