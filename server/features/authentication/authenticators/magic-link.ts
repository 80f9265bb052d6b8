// The authenticator magic-link: a mailed link finishes the sign-in that asked for it, in the same browser. The link opens a
// page with a button, because mail scanners open links, too. No page reveals whether a mail was sent.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Transact } from '../../../db/transact.ts';
import { linkDigest, linkTo } from '../../../domain/links.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Complaint, Method, Step, StepMemory, StepPage } from './authenticator.ts';

const LIFETIME_SECONDS = 900;
const AGAIN_AFTER_MS = 30_000;
const LOOK_AGAIN_SECONDS = 5;
const NAME_MAX = 255;
const Whose = z.object({ id: z.string(), username: z.string(), to: z.string() });

export interface MagicLinkDeps {
  credentials: Pick<Credentials, 'named' | 'standing'>;
  transact: Transact;
  send: Send;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  seal: Seal;
  now: () => Date;
}

export function createMagicLink({ credentials, transact, send, sends, seal, now }: MagicLinkDeps): Method {
  const context = ({ realm }: Step) => `magic-link:${realm}`;

  /** Sends a link to the user with this name. An unknown name takes the same steps. */
  async function sendLink(step: Step, name: string) {
    const { realm, by, site } = step;
    const person = step.user
      ? { user: step.user, standing: await credentials.standing(realm, step.user.id) }
      : await credentials.named(realm, name);
    const to = person?.standing?.reach.EMAIL ?? null;
    const secret = newSecret();
    const link = linkTo(site.origin, realm, secret);
    const userId = to === null || !person ? null : person.user.id;
    const asked = { realm, by, userId, to, templateKey: 'magic-link-email', values: { link } } as const;
    await transact(realm, (tx) => send(tx, { ...asked, goodForSeconds: LIFETIME_SECONDS }));
    // Sealed: readers of the database, like those of the page, don't learn whether the account exists.
    const found = JSON.stringify(userId === null ? null : { ...person?.user, to });
    const whose = seal.seal(found, context(step)).toString('base64');
    const address = linkDigest(secret);
    const keep: StepMemory = { address, whose, name, at: String(now().getTime()) };
    return { do: 'kept', keep, address } as const;
  }

  /** The user that the link was sent to; undefined: no user, or the user has another address now. */
  async function whoseOf(step: Step): Promise<KnownUser | undefined> {
    const text = seal.open(Buffer.from(step.kept.whose ?? '', 'base64'), context(step)).toString();
    const found = Whose.safeParse(JSON.parse(text)).data;
    if (!found) return undefined;
    const { to, ...user } = found;
    return (await credentials.standing(step.realm, user.id))?.reach.EMAIL === to ? user : undefined;
  }

  return {
    id: 'magic-link',
    displayName: phrase('magicLink'),
    factorClass: 'POSSESSION',
    levelOfAssurance: 1,
    category: 'METHOD',
    identifies: true,
    enrols: false,
    amr: ['email'],
    configSchema: z.strictObject({}),
    availableTo: ({ reach }) => reach.EMAIL !== null,
    async begin(step, complaint) {
      if (!(await sends(step.realm, 'EMAIL'))) return nowherePage();
      if (step.kept.address === undefined) return namePage(step, complaint);
      return waitingPage();
    },
    async verify(step, form) {
      const { kept } = step;
      const again = (message: string, reason = '', field = 'username') =>
        ({ do: 'again', complaint: { field, message, values: { username: form.username ?? '' } }, reason }) as const;
      const sentAt = Number(kept.at ?? 0);
      if (form.link === undefined) {
        const name = kept.name ?? (form.username ?? '').trim().slice(0, NAME_MAX);
        if (name === '' && !step.user) return again(text('link.nameMissing'));
        if (now().getTime() - sentAt < AGAIN_AFTER_MS) return again(text('link.sentJustNow'), '', 'form');
        if (!(await sends(step.realm, 'EMAIL'))) return again(text('link.nowhere'), '', 'form');
        return sendLink(step, name);
      }
      const over = now().getTime() - sentAt > LIFETIME_SECONDS * 1000;
      const user = kept.address === undefined || over ? undefined : await whoseOf(step);
      if (!user || !sameSecret(linkDigest(form.link), kept.address ?? ''))
        return again(text('link.over'), 'magic-link-wrong', 'form');
      return { do: 'passed', user };
    },
  };
}

function namePage({ user, loginHint }: Step, complaint: Complaint | undefined): StepPage {
  const bad = complaint?.field === 'username' && invalidState('username');
  return {
    title: user ? text('link.confirm') : text('link.title'),
    submit: text('link.submit'),
    body: user
      ? html`<p class="lead">${text('link.confirmLead')}</p>`
      : html`<div class="field">
<label for="username">${text('password.username')}</label>
<input type="text" id="username" name="username" value="${complaint?.values?.username ?? loginHint}" maxlength="${NAME_MAX}"
 autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" required autofocus${bad}>
${noteAt(faultsOf(complaint), 'username')}
</div>`,
  };
}

const nowherePage = (): StepPage => ({
  title: text('link.title'),
  submit: text('error.tryAgain'),
  body: html`<p class="lead">${text('link.nowhere')}</p>`,
});

const waitingPage = (): StepPage => ({
  title: text('link.waiting'),
  submit: text('link.sendNew'),
  refreshSeconds: LOOK_AGAIN_SECONDS,
  underWay: true,
  body: html`<p class="lead">${text('link.waitingLead', { minutes: LIFETIME_SECONDS / 60 })}</p>`,
});
