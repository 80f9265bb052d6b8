// The section of the account page that lists the user's identities at identity providers, connects another one and
// disconnects one.
import { z } from 'zod';
import type { IdentityLink } from '../../../contract/identity-links.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { siteOf } from '../../../domain/site.ts';
import { html, isolated } from '../../../http/html.ts';
import { sendOnward } from '../../../http/self-posting.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Connections } from '../brokering/connect.ts';
import type { Links } from '../brokering/links.ts';
import type { OwnIdentities } from './own-identities.ts';
import type { AccountSection } from './section.ts';

export interface IdentitySectionDeps {
  links: Pick<Links, 'list'>;
  ownIdentities: OwnIdentities;
  connections: Pick<Connections, 'offered' | 'begin'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  transact: Transact;
  baseUrl: string;
}
const Params = z.object({ id: z.uuid().catch('') });
const Named = z.object({ alias: z.string().max(255) });

export function createIdentitySection(deps: IdentitySectionDeps): AccountSection {
  const { links, ownIdentities, connections, settings, transact, baseUrl } = deps;

  return {
    view: 'security',
    async show(realm, { userId }, { post, time, mayChange }) {
      const all = await links.list(realm, userId);
      const known = new Set(all.map(({ identityProvider }) => identityProvider));
      const others = mayChange ? (await connections.offered(realm)).filter(({ alias }) => !known.has(alias)) : [];
      if (all.length === 0 && others.length === 0) return false;
      const row = ({ id, displayName, name, subject, linkedAt, lastUsedAt }: IdentityLink) => html`<li>
<div><strong>${isolated(displayName)}</strong> <span class="soft">${name ?? subject}</span>
<div class="soft">${textHtml('identities.linked', { when: time(linkedAt) })}</div>
${lastUsedAt !== null && html`<div class="soft">${textHtml('account.methodLastUsed', { when: time(lastUsedAt) })}</div>`}</div>
${mayChange && post(`identities/${id}/remove`, html`<button class="quiet">${text('identities.remove')}<span class="hidden"> ${displayName}</span></button>`)}
</li>`;
      return html`<h2>${text('identities.title')}</h2>
${
  all.length > 0 &&
  html`<ul class="rows">
${all.map(row)}
</ul>`
}
${
  others.length > 0 &&
  html`<div class="actions">
${others.map(({ alias, title }) =>
  post(
    `identities/${alias}/connect`,
    html`<button class="quiet">${textHtml('identities.connect', { provider: isolated(title) })}</button>`,
  ),
)}
</div>`
}`;
    },

    mount(app, visit, { prove, isFresh }) {
      app.post(
        '/realms/:realm/account/identities/:alias/connect',
        { schema: { hide: true } },
        async (request, reply) => {
          const { realm, session } = await visit(request);
          if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
          if (!isFresh(session)) return prove(request, reply, realm, session);
          const policy = await settings.of(realm);
          const { alias } = Named.parse(request.params);
          const { origin } = policy ? siteOf(request, policy, baseUrl) : { origin: baseUrl };
          const to = await connections.begin(reply, realm, alias, { session, origin });
          if (!to) return reply.redirect(`/realms/${realm}/account?said=notConnected`, 303);
          // An interstitial page: the account page's policy (form-action) would block the redirect of its form.
          return sendOnward(reply, { realm, brand: policy }, to.url, {
            lead: text('provider.lead', { provider: to.title }),
          });
        },
      );

      app.post('/realms/:realm/account/identities/:id/remove', { schema: { hide: true } }, async (request, reply) => {
        const { realm, session } = await visit(request);
        if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
        if (!isFresh(session)) return prove(request, reply, realm, session);
        const { id } = Params.parse(request.params);
        const { userId, username } = session;
        const by = { actor: userParty(userId, username), ipAddress: request.ip } as const;
        const which = { id, keep: { sessionId: session.id } };
        const work = (tx: Tx) => ownIdentities.remove(tx, by, realm, { id: userId, username }, which);
        // Bookkeeping: a lock counts as a write, and it is the only one if the last way to sign in must stay.
        const done = await transact(realm, work, { bookkeeping: true });
        return reply.redirect(`/realms/${realm}/account?said=${done === 'removed' ? 'removed' : 'kept'}`, 303);
      });
    },
  };
}
