// The account page's sections: the user's own shares, requests for the user's resources, and resources that others
// share with the user.
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import type { ReceivedShare, Share, SharedResource } from '../../../contract/sharing.ts';
import { createShare } from '../../../contract/sharing.ts';
import { userParty } from '../../../domain/party.ts';
import { type Html, html, isolated } from '../../../http/html.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { AccountSection, Visit } from '../../authentication/account/section.ts';
import type { SectionParts as Parts } from '../../authentication/account/sections.ts';
import type { Person, Sharing } from './sharing.ts';

const Params = z.object({ id: z.uuid().catch('') });
const several = z.union([z.string(), z.array(z.string())]).optional();
const scopesOf = (given: string | string[] | undefined): string[] => (given === undefined ? [] : [given].flat());
const Answer = z.object({ decision: z.enum(['allow', 'deny']), scope: several, kept: several });
const Given = z.object({ clientId: z.string(), resource: z.string(), username: z.string(), scope: several });

const hidden = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`;
const called = (name: string) => html`<span class="hidden"> ${name}</span>`;

/** A request, with the scopes shared before. Consent covers only the scopes on the page, not those requested meanwhile. */
const waiting = (
  { id, username, scopes, requested }: Share,
  name: string,
  { post, mayChange }: Parts,
): Html => html`<li>
<div><strong>${name}</strong>
<div>${textHtml('sharing.waiting', { who: isolated(username), scopes: requested.join(', ') })}</div></div>
${
  mayChange &&
  post(
    `shares/${id}/answer`,
    html`${[...new Set([...scopes, ...requested])].map((scope) => hidden('scope', scope))}
${scopes.map((scope) => hidden('kept', scope))}<button name="decision" value="allow">${text('consent.allow')}${called(`${username} ${name}`)}</button>
<button class="quiet" name="decision" value="deny">${text('sharing.refuse')}${called(`${username} ${name}`)}</button>`,
  )
}
</li>`;

const granted = ({ id, username, scopes }: Share, name: string, { post, mayChange }: Parts): Html => html`<li>
<div class="soft">${textHtml('sharing.with', { who: isolated(username), scopes: scopes.join(', ') })}</div>
${mayChange && post(`shares/${id}/end`, html`<button class="quiet">${text('sharing.stop')}${called(`${name} ${username}`)}</button>`)}
</li>`;

const fields = ({ clientId, resource, scopes }: SharedResource, at: number): Html => html`
${hidden('clientId', clientId)}${hidden('resource', resource)}
<div class="field"><label for="share-${at}">${text('account.username')}</label>
<input type="text" id="share-${at}" name="username" required maxlength="255" autocomplete="off"></div>
<fieldset><legend>${text('sharing.what')}</legend>
${scopes.map((scope) => html`<label class="check"><input type="checkbox" name="scope" value="${scope}"> ${scope}</label>`)}
</fieldset>
<button class="quiet">${text('sharing.submit')}</button>`;

function owned(one: SharedResource, at: number, parts: Parts): Html {
  const { name, clientName } = one;
  const shares = one.shares.filter(({ scopes }) => scopes.length > 0);
  return html`<li><div><strong>${name}</strong> <span class="soft">${clientName}</span>
${shares.length > 0 && html`<ul class="rows">${shares.map((share) => granted(share, name, parts))}</ul>`}
${parts.mayChange && one.scopes.length > 0 && html`<details><summary>${text('sharing.add')}${called(name)}</summary>${parts.post('shares/add', fields(one, at))}</details>`}
</div></li>`;
}

function received(one: ReceivedShare, { post, mayChange }: Parts): Html {
  const { id, name, clientName: app, owner, scopes, requested, denied } = one;
  const line = (key: 'sharing.by' | 'sharing.asked' | 'sharing.refused', list: readonly string[]) =>
    list.length > 0 &&
    html`<div class="soft">${textHtml(key, { app: isolated(app), owner: isolated(owner), scopes: list.join(', ') })}</div>`;
  return html`<li>
<div><strong>${name}</strong>${line('sharing.by', scopes)}${line('sharing.asked', requested)}${line('sharing.refused', denied)}</div>
${mayChange && post(`shares/${id}/end`, html`<button class="quiet">${text('account.removeMethod')}${called(name)}</button>`)}
</li>`;
}

export function createSharingSection(sharing: Sharing): AccountSection {
  async function ofTheirs(request: FastifyRequest, visit: Visit) {
    const { realm, session } = await visit(request);
    const home = `/realms/${realm}`;
    if (!session) return { at: `${home}/login?for=account` };
    const { userId, username } = session;
    const person: Person = { userId, username };
    const by = { actor: userParty(userId, username), ipAddress: request.ip } as const;
    return { at: `${home}/account`, realm, person, by, id: Params.parse(request.params).id };
  }
  /** After a double click, or if the other user ended it meanwhile, the share is gone already, as the user wanted. */
  const unlessGone = (error: unknown) => {
    if (!(error instanceof Problem) || error.code !== 'not-found') throw error;
  };

  return {
    view: 'applications',
    async show(realm, { userId, username }, parts) {
      const person = { userId, username };
      const [mine, theirs] = await Promise.all([sharing.mine(realm, person), sharing.received(realm, person)]);
      if (mine.length + theirs.length === 0) return false;
      const asked = mine.flatMap(({ name, shares }) =>
        shares.filter(({ requested }) => requested.length > 0).map((share) => waiting(share, name, parts)),
      );
      return html`${
        mine.length > 0 &&
        html`<h2 id="sharing">${text('sharing.title')}</h2>
${asked.length > 0 && html`<ul class="rows">${asked}</ul>`}
<ul class="rows">
${mine.map((one, at) => owned(one, at, parts))}
</ul>`
      }${
        theirs.length > 0 &&
        html`<h2>${text('sharing.received')}</h2>
<ul class="rows">
${theirs.map((one) => received(one, parts))}
</ul>`
      }`;
    },

    mount(app, visit) {
      const path = '/realms/:realm/account/shares';
      const page = { schema: { hide: true } };
      app.post(`${path}/add`, page, async (request, reply) => {
        const of = await ofTheirs(request, visit);
        if (!of.person) return reply.redirect(of.at, 303);
        const { scope, ...given } = Given.parse(request.body);
        const wanted = createShare.body.safeParse({ ...given, scopes: scopesOf(scope) });
        if (!wanted.success) throw new Problem('invalid-request', text('sharing.incomplete'));
        await sharing.share(of.by, of.realm, of.person, wanted.data);
        return reply.redirect(`${of.at}?said=shared`, 303);
      });
      app.post(`${path}/:id/answer`, page, async (request, reply) => {
        const of = await ofTheirs(request, visit);
        if (!of.person) return reply.redirect(of.at, 303);
        const { decision, scope, kept } = Answer.parse(request.body);
        const scopes = scopesOf(decision === 'allow' ? scope : kept);
        await sharing.answer(of.by, of.realm, of.person, of.id, scopes).catch(unlessGone);
        return reply.redirect(`${of.at}?said=answered`, 303);
      });
      app.post(`${path}/:id/end`, page, async (request, reply) => {
        const of = await ofTheirs(request, visit);
        if (!of.person) return reply.redirect(of.at, 303);
        await sharing.end(of.by, of.realm, of.person, of.id).catch(unlessGone);
        return reply.redirect(`${of.at}?said=unshared`, 303);
      });
    },
  };
}
