// The authenticator qr: the page shows a code, and the user's device confirms it, which identifies the user. The code works
// once, in the browser that shows it.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { html } from '../../../http/html.ts';
import { codeForApp } from '../../../http/qr-picture.ts';
import { text } from '../../../http/texts.ts';
import type { Challenges } from '../../people/devices/challenges.ts';
import type { Method, Step, StepMemory, StepPage, StepVerdict } from './authenticator.ts';
import { LOOK_AGAIN_SECONDS } from './push.ts';

export interface QrDeps {
  challenges: Pick<Challenges, 'qrAddress' | 'outcome' | 'take' | 'QR_SECONDS'>;
  now: () => Date;
  newId: () => string;
}

export function createQr({ challenges, now, newId }: QrDeps): Method {
  const fresh = (): StepMemory => ({ qr: newId(), at: String(now().getTime()) });
  const isOver = ({ at }: StepMemory): boolean => now().getTime() - Number(at) > challenges.QR_SECONDS * 1000;
  const again = (message: string, reason = '', keep?: StepMemory): StepVerdict => ({
    do: 'again',
    complaint: { field: 'form', message },
    reason,
    ...(keep && { keep }),
  });
  function pageFor({ realm, by, application, userAgent }: Step, kept: StepMemory): StepPage {
    const asking = { application, ipAddress: by.ipAddress, userAgent };
    return codePage(challenges.qrAddress(realm, kept.qr ?? '', Number(kept.at), asking));
  }

  return {
    id: 'qr',
    displayName: phrase('qr'),
    factorClass: 'POSSESSION',
    levelOfAssurance: 2,
    category: 'METHOD',
    identifies: true,
    enrols: false,
    provenElsewhere: true,
    amr: ['pop', 'mca', 'user'],
    configSchema: z.strictObject({}),
    availableTo: ({ types }) => types.includes('device'),
    async begin(step) {
      const { realm, kept } = step;
      if (kept.qr === undefined) {
        const keep = fresh();
        return { ...pageFor(step, keep), keep };
      }
      if ((await challenges.outcome(realm, kept.qr)) === 'approved') return { ...pageFor(step, kept), ready: true };
      return isOver(kept) ? overPage() : pageFor(step, kept);
    },
    async verify(step, form) {
      const { realm, user, kept } = step;
      if (form.renew !== undefined || kept.qr === undefined) return { do: 'kept', keep: fresh() };
      const taken = await challenges.take(realm, kept.qr, 'qr');
      if (!taken) return again(text(isOver(kept) ? 'qr.over' : 'qr.notYet'));
      const { user_id: id, username, credential_id: credentialId } = taken;
      if (user && user.id !== id) return again(text('qr.another'), 'qr-another', fresh());
      return { do: 'passed', user: { id, username }, credentialId };
    },
  };
}

const codePage = (address: string): StepPage => ({
  title: text('qr.title'),
  submit: text('qr.check'),
  plain: true,
  refreshSeconds: LOOK_AGAIN_SECONDS,
  body: html`<p class="lead">${text('qr.lead')}</p>
${codeForApp(address, text('qr.picture'))}
<p class="hint" role="status">${text('qr.waiting')}</p>`,
  below: html`<button class="link" name="renew" value="1">${text('qr.new')}</button>`,
});

const overPage = (): StepPage => ({
  title: text('qr.title'),
  submit: text('qr.new'),
  body: html`<input type="hidden" name="renew" value="1"><p class="lead">${text('qr.over')}</p>`,
});
