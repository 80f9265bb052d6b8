// The authenticator recovery-codes: codes that were shown once. Each replaces a lost second factor once.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { RecoveryCodes } from '../../people/credentials/recovery-codes.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Complaint, Form, Method, Step, StepPage, StepVerdict } from './authenticator.ts';
import { lockedWords } from './locked-words.ts';

export interface RecoveryCodesDeps {
  credentials: Pick<Credentials, 'guess'>;
  recoveryCodes: RecoveryCodes;
  transact: Transact;
  seal: Seal;
}

const Codes = z.array(z.string());

export function createRecoveryCodesMethod({ credentials, recoveryCodes, transact, seal }: RecoveryCodesDeps): Method {
  const context = ({ realm }: Step, { id }: KnownUser) => `enrol-recovery-codes:${realm}:${id}`;
  function shownTo(step: Step, user: KnownUser): string[] | undefined {
    const { codes } = step.kept;
    if (codes === undefined) return undefined;
    return Codes.parse(JSON.parse(seal.open(Buffer.from(codes, 'base64'), context(step, user)).toString()));
  }

  async function enrol(step: Step, user: KnownUser, form: Form): Promise<StepVerdict> {
    const codes = shownTo(step, user);
    const { realm, proven } = step;
    if (codes === undefined || !proven || form.saved !== 'on') {
      const message = text('recovery.keepFirst');
      return { do: 'again', complaint: { field: 'saved', message }, reason: '' };
    }
    const { now, old } = await transact(realm, async (tx) => {
      await mustHold(tx.sql, realm, proven);
      return recoveryCodes.enrol(tx, step.byThem, realm, user, codes);
    });
    return { do: 'done', renewed: old === undefined ? undefined : { old, now } };
  }

  return {
    id: 'recovery-codes',
    displayName: phrase('recoveryCode'),
    factorClass: 'KNOWLEDGE',
    levelOfAssurance: 2,
    category: 'METHOD',
    identifies: false,
    enrols: false,
    standsIn: true,
    amr: ['otp'],
    credential: { type: 'recovery-codes', name: phrase('recoveryCodes'), setUpBy: 'CONFIGURE_RECOVERY_CODES' },
    configSchema: z.strictObject({}),
    async begin(step, complaint) {
      const { user } = step;
      if (!user) throw new Error('recovery codes are somebody’s');
      if (!step.enrol) return codePage(complaint);
      const codes = shownTo(step, user) ?? recoveryCodes.generate();
      const sealed = seal.seal(JSON.stringify(codes), context(step, user)).toString('base64');
      return { ...enrolmentPage(codes, step.settings.displayName, complaint), keep: { codes: sealed } };
    },
    async verify(step, form) {
      const { realm, user, by } = step;
      if (!user) throw new Error('recovery codes are somebody’s');
      if (step.enrol) return enrol(step, user, form);
      const again = (message: string, reason: string) =>
        ({ do: 'again', complaint: { field: 'code', message }, reason }) as const;
      if ((form.code ?? '').trim() === '') return again(text('recovery.missing'), '');
      const verdict = await credentials.guess(realm, user, by, () =>
        recoveryCodes.use(realm, by, user, form.code ?? ''),
      );
      if (verdict.ok) return { do: 'passed', credentialId: verdict.credentialId };
      const wrong = text('recovery.wrong');
      const message = verdict.reason === 'locked' ? lockedWords(step, wrong) : wrong;
      return again(message, `recovery-code-${verdict.reason}`);
    },
  };
}

const codePage = (complaint: Complaint | undefined): StepPage => ({
  title: text('recovery.title'),
  submit: text('recovery.submit'),
  body: html`<p class="lead">${text('recovery.lead')}</p>
<div class="field">
<label for="code">${text('recovery.code')}</label>
<input class="code" type="text" id="code" name="code" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="40"
 required autofocus${complaint?.field === 'code' && invalidState('code')}>
${noteAt(faultsOf(complaint), 'code')}
</div>`,
});

/** Buttons for print, copy and download need a script. */
const script = `(() => {
const text = document.getElementById('codes').dataset.text;
const does = {
  copy: () => navigator.clipboard.writeText(text),
  print: () => print(),
  download: () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = 'recovery-codes.txt';
    link.click();
  },
};
for (const button of document.querySelectorAll('[data-does]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await does[button.dataset.does]();
    button.textContent = button.dataset.done;
  });
}
})();`;

function enrolmentPage(codes: readonly string[], realmName: string, complaint: Complaint | undefined): StepPage {
  const file = [text('recovery.file', { realm: realmName }), '', ...codes, ''].join('\n');
  const button = (does: string, words: string, done: string) =>
    html`<button type="button" class="quiet" data-does="${does}" data-done="${done}" hidden>${words}</button>`;
  return {
    title: text('recovery.keep'),
    plain: true,
    submit: text('recovery.submit'),
    script,
    body: html`<p class="lead">${text('recovery.keepLead')}</p>
<ul class="codes" id="codes" data-text="${file}">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p>${button('copy', text('recovery.copy'), text('recovery.copied'))} ${button('download', text('recovery.download'), text('recovery.downloaded'))} ${button('print', text('recovery.print'), text('recovery.printed'))}</p>
<div class="check">
<input type="checkbox" id="saved" name="saved" value="on" required${complaint?.field === 'saved' && invalidState('saved')}>
<label for="saved">${text('recovery.kept')}</label>
</div>
${noteAt(faultsOf(complaint), 'saved')}`,
  };
}
