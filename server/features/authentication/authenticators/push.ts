// The authenticator push: the user approves on a device, and types there the number that this page shows. Setting a device
// up in the sign-in: the app scans a code, and the user confirms on the page that the device is theirs.
// features/people/devices verifies signatures of devices.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { html } from '../../../http/html.ts';
import { codeForApp } from '../../../http/qr-picture.ts';
import { text } from '../../../http/texts.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Challenges } from '../../people/devices/challenges.ts';
import type { Enrolments } from '../../people/devices/enrolment.ts';
import type { Method, Step, StepMemory, StepPage, StepVerdict } from './authenticator.ts';

const AGAIN_AFTER_MS = 30_000;
export const LOOK_AGAIN_SECONDS = 3;

export interface PushDeps {
  challenges: Pick<Challenges, 'push' | 'outcome' | 'take'>;
  enrolments: Pick<Enrolments, 'begin' | 'pending' | 'confirm' | 'urlOf'>;
  credentials: Pick<Credentials, 'guess'>;
  transact: Transact;
  seal: Seal;
  now: () => Date;
}

export function createPush({ challenges, enrolments, credentials, transact, seal, now }: PushDeps): Method {
  const context = ({ realm }: Step, { id }: KnownUser) => `enrol-device:${realm}:${id}`;
  function tokenOf(step: Step, user: KnownUser): string | undefined {
    const { token } = step.kept;
    return token === undefined ? undefined : seal.open(Buffer.from(token, 'base64'), context(step, user)).toString();
  }
  const again = (message: string, reason = ''): StepVerdict => ({
    do: 'again',
    complaint: { field: 'form', message },
    reason,
  });

  async function ask(step: Step, user: KnownUser): Promise<StepMemory | undefined> {
    const { realm, by, application, userAgent } = step;
    const asked = await challenges.push(realm, by, user, { application, ipAddress: by.ipAddress, userAgent });
    return asked && { push: asked.id, number: asked.number, at: String(now().getTime()) };
  }

  async function enrolmentPage(step: Step, user: KnownUser): Promise<StepPage> {
    const { realm } = step;
    const token = tokenOf(step, user);
    if (token === undefined) {
      const { keep, token: fresh } = await newToken(step, user);
      return { ...scanPage(enrolments.urlOf(realm, fresh)), keep };
    }
    const found = await enrolments.pending(realm, user.id, token);
    if (!found) return scanPage(enrolments.urlOf(realm, token));
    return found.over ? overPage() : confirmPage(found.name);
  }

  async function newToken(step: Step, user: KnownUser): Promise<{ token: string; keep: StepMemory }> {
    const token = await enrolments.begin(step.realm, user);
    return { token, keep: { token: seal.seal(token, context(step, user)).toString('base64') } };
  }

  async function enrol(step: Step, user: KnownUser, form: Readonly<Record<string, string>>): Promise<StepVerdict> {
    const { realm, proven } = step;
    const token = tokenOf(step, user);
    if (token === undefined || form.renew !== undefined) return { do: 'kept', keep: (await newToken(step, user)).keep };
    // Only the page with the question whether the device is the user's sends this field.
    if (form.device !== 'mine' || !proven) return again(text('deviceKey.notYet'));
    const credentialId = await transact(realm, async (tx) => {
      const enrolled = await enrolments.confirm(tx, step.byThem, realm, user, token);
      if (enrolled !== undefined) await mustHold(tx.sql, realm, proven);
      return enrolled;
    });
    return credentialId === undefined ? again(text('deviceKey.over')) : { do: 'passed', credentialId };
  }

  async function verdictOf(step: Step, user: KnownUser): Promise<StepVerdict> {
    const { realm, by, kept } = step;
    const id = kept.push;
    if (id === undefined) return again(text('push.tooMany'));
    const outcome = await challenges.outcome(realm, id);
    if (outcome === 'waiting') return again(text('push.stillWaiting'));
    if (outcome === 'over') return again(text('push.over'));
    if (outcome === 'denied') return { do: 'ended', because: 'denied' };
    const verdict = await credentials.guess(realm, user, by, async () => {
      const taken = await challenges.take(realm, id, 'push');
      return taken?.user_id === user.id ? ({ ok: true, taken } as const) : ({ ok: false, reason: 'used' } as const);
    });
    return verdict.ok
      ? { do: 'passed', credentialId: verdict.taken.credential_id }
      : again(text('push.locked'), `push-${verdict.reason}`);
  }

  return {
    id: 'push',
    displayName: phrase('push'),
    factorClass: 'POSSESSION',
    levelOfAssurance: 6,
    category: 'METHOD',
    identifies: false,
    provenElsewhere: true,
    amr: ['pop', 'mca'],
    credential: { type: 'device', name: phrase('device'), setUpBy: 'CONFIGURE_DEVICE' },
    configSchema: z.strictObject({}),
    async begin(step) {
      const { realm, user, kept } = step;
      if (!user) throw new Error('push asks somebody who is known');
      if (step.enrol) return enrolmentPage(step, user);
      if (kept.push !== undefined) {
        const outcome = await challenges.outcome(realm, kept.push);
        return { ...waitingPage(kept.number ?? '', outcome), ready: outcome === 'approved' || outcome === 'denied' };
      }
      const keep = await ask(step, user);
      return keep ? { ...waitingPage(keep.number ?? '', 'waiting'), keep } : tooManyPage();
    },
    async verify(step, form) {
      const { user, kept } = step;
      if (!user) throw new Error('push asks somebody who is known');
      if (step.enrol) return enrol(step, user, form);
      if (form.resend === undefined && kept.push !== undefined) return verdictOf(step, user);
      if (now().getTime() - Number(kept.at ?? 0) < AGAIN_AFTER_MS) return again(text('push.sentJustNow'));
      const keep = await ask(step, user);
      return keep ? { do: 'kept', keep } : again(text('push.tooMany'));
    },
  };
}

function waitingPage(number: string, outcome: string): StepPage {
  if (outcome === 'over')
    return {
      title: text('push.title'),
      submit: text('push.sendNew'),
      body: html`<input type="hidden" name="resend" value="1"><p class="lead">${text('push.over')}</p>`,
    };
  return {
    title: text('push.title'),
    submit: text('push.check'),
    refreshSeconds: LOOK_AGAIN_SECONDS,
    body: html`<p class="lead">${text('push.lead')}</p>
<p class="number"><strong>${number}</strong></p>
<p class="hint" role="status">${text('push.waiting')}</p>`,
    below: html`<button class="link" name="resend" value="1">${text('push.sendNew')}</button>`,
  };
}

const tooManyPage = (): StepPage => ({
  title: text('push.title'),
  submit: text('push.sendNew'),
  body: html`<input type="hidden" name="resend" value="1"><p class="lead">${text('push.tooMany')}</p>`,
});

const scanPage = (address: string): StepPage => ({
  title: text('deviceKey.setUp'),
  plain: true,
  submit: text('deviceKey.check'),
  refreshSeconds: LOOK_AGAIN_SECONDS,
  body: html`<p class="lead">${text('deviceKey.setUpLead')}</p>
${codeForApp(address, text('deviceKey.picture'))}
<p class="hint" role="status">${text('deviceKey.waiting')}</p>`,
});

const overPage = (): StepPage => ({
  title: text('deviceKey.setUp'),
  submit: text('qr.new'),
  body: html`<input type="hidden" name="renew" value="1"><p class="lead">${text('deviceKey.over')}</p>`,
});

const confirmPage = (device: string): StepPage => ({
  title: text('deviceKey.confirm'),
  plain: true,
  submit: text('deviceKey.add'),
  body: html`<input type="hidden" name="device" value="mine"><p class="lead">${text('deviceKey.confirmLead', { device })}</p>`,
});
