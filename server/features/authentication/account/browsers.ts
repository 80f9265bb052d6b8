// The section of the account page that lists the user's known browsers and forgets one of them.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { userParty } from '../../../domain/party.ts';
import { deviceName } from '../../../http/device-name.ts';
import { html } from '../../../http/html.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { AccountSection } from './section.ts';

const Params = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .catch(''),
});

/** The section of the account page; absent if no browser is known. */
export const createBrowsersSection = (browsers: Browsers): AccountSection => ({
  async show(realm, session, { post, time, mayChange }) {
    const known = await browsers.list(realm, session.userId);
    if (known.length === 0) return false;
    return html`<h2>${text('browsers.title')}</h2>
<p class="soft">${text('browsers.lead')}</p>
<ul class="rows">
${known.map(
  ({ id, userAgent, firstSeenAt, lastSeenAt }) => html`<li>
<div><strong>${deviceName(userAgent)}</strong>
<div class="soft">${textHtml('account.methodAdded', { when: time(firstSeenAt) })}</div>
<div class="soft">${textHtml('account.methodLastUsed', { when: time(lastSeenAt) })}</div></div>
${mayChange && post(`browsers/${id}/forget`, html`<button class="quiet">${text('browsers.forget')}<span class="hidden"> ${deviceName(userAgent)}</span></button>`)}
</li>`,
)}
</ul>`;
  },
  mount(app: FastifyInstance, visit, { prove, isFresh }) {
    app.post('/realms/:realm/account/browsers/:id/forget', { schema: { hide: true } }, async (request, reply) => {
      const { realm, session } = await visit(request);
      if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
      // Without a fresh proof, another person at an open session could forget browsers, so that their own next sign-in
      // would count as the first.
      if (!isFresh(session)) return prove(request, reply, realm, session);
      const { userId: id, username } = session;
      const by = { actor: userParty(id, username), ipAddress: request.ip };
      await browsers.forget(by, realm, { id, username }, Params.parse(request.params).id);
      return reply.redirect(`/realms/${realm}/account?said=forgotten`, 303);
    });
  },
});
