// The browsers that are known to be a person's, as they see them on their account page and by its API; and forgetting one.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { deviceName } from '../../../http/device-name.ts';
import { html } from '../../../http/html.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { AccountSection } from '../account/section.ts';
import * as store from './store.ts';

const SHOWN = 100;
const Params = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .catch(''),
});

export interface Person {
  id: string;
  username: string;
}

export const createBrowsers = ({ sql, transact, notify }: { sql: Sql; transact: Transact; notify: Notify }) => ({
  list: (realm: string, userId: string): Promise<store.Browser[]> => store.browsersOf(sql, realm, userId, SHOWN),

  /** Those that somebody has signed in with first since then, in the transaction of what is told of it. */
  forgetSince: (tx: Tx, _by: By, realm: string, { id }: Pick<Person, 'id'>, { since }: { since: Date }) =>
    store.forgetBrowsersSince(tx.sql, realm, id, since),

  /** @returns whether it was theirs */
  forget: (by: By, realm: string, { id: userId, username }: Person, id: string): Promise<boolean> =>
    transact(realm, async (tx) => {
      if (!(await store.forgetBrowser(tx.sql, realm, userId, id))) return false;
      tx.record({ type: 'BROWSER_FORGOTTEN', realm, by, subject: userParty(userId, username), data: { browser: id } });
      await notify(tx, { realm, by, userId, what: 'browser-forgotten' });
      return true;
    }),
});
export type Browsers = ReturnType<typeof createBrowsers>;

/** The section of the account page; absent where none is known. */
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
      // Who found it open could make their own next sign-in look like the first.
      if (!isFresh(session)) return prove(request, reply, realm, session);
      const { userId: id, username } = session;
      const by = { actor: userParty(id, username), ipAddress: request.ip };
      await browsers.forget(by, realm, { id, username }, Params.parse(request.params).id);
      return reply.redirect(`/realms/${realm}/account?said=forgotten`, 303);
    });
  },
});
