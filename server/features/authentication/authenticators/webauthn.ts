// The authenticator webauthn: a passkey identifies the user by itself or serves as a further factor; it can be set up in
// the sign-in. features/people/credentials/passkeys.ts checks it.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { type Html, html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Passkeys, UsedKey, UserVerification } from '../../people/credentials/passkeys.ts';
import type { KnownUser } from '../../people/credentials/service.ts';
import type { Beside, Complaint, Form, Method, Passed, Step, StepPage, StepVerdict } from './authenticator.ts';
import { passkeyScript } from './passkey-script.ts';

const Config = z.strictObject({
  userVerification: z
    .enum(['required', 'preferred', 'discouraged'])
    .optional()
    .describe(
      'Whether the authenticator must verify its user by PIN or biometrics, if the sign-in knows the user already (otherwise it always must); left out: preferred',
    ),
  deviceBound: z
    .boolean()
    .optional()
    .describe('Whether only a passkey that can’t leave its authenticator passes the step; left out: any passkey does'),
  createAfterPassword: z
    .boolean()
    .optional()
    .describe(
      'Whether a sign-in with a password ends by asking the browser to create a passkey on its own, which it does if its password manager has just filled in the password (conditional create); left out: it doesn’t',
    ),
});
export const passkeyConfigOf = (config: Record<string, unknown>) => Config.parse(config);
export const LABEL_MAX = 100;
/** The value of a complaint that names a passkey that is not known. The page tells the browser to stop offering it. */
const UNKNOWN = 'unknownPasskey';

export interface WebauthnDeps {
  passkeys: Pick<Passkeys, 'creation' | 'request' | 'enrol' | 'check'>;
  transact: Transact;
}

export function createWebauthn({ passkeys, transact }: WebauthnDeps): Method {
  /** If the passkey alone identifies the user, the authenticator must verify the user. */
  const verificationOf = ({ user, config }: Step): UserVerification =>
    user ? (Config.parse(config).userVerification ?? 'preferred') : 'required';

  async function requestOf(step: Step): Promise<object> {
    const { realm, user, site, challenge } = step;
    return passkeys.request(realm, user, { site, challenge, userVerification: verificationOf(step) });
  }

  async function enrol(step: Step, user: KnownUser, form: Form): Promise<StepVerdict> {
    const { realm, proven, site, challenge } = step;
    const label = (form.label ?? '').trim().slice(0, LABEL_MAX);
    const message = text('passkey.notSetUp');
    const again = { do: 'again', complaint: { field: 'form', message, values: { label } }, reason: '' } as const;
    if (!proven || !form.passkey) return again;
    const asked = { site, challenge, userVerification: verificationOf(step) };
    const { deviceBound = false } = Config.parse(step.config);
    const made = { ...asked, deviceBound, sent: form.passkey, label: label === '' ? null : label };
    const enrolled = await transact(
      realm,
      async (tx) => {
        const key = await passkeys.enrol(tx, step.byThem, realm, user, made);
        if (key.ok) await mustHold(tx.sql, realm, proven);
        return key;
      },
      { bookkeeping: true },
    );
    if (enrolled.ok) return passedBy(enrolled);
    if (enrolled.reason === 'invalid') return again;
    return { ...again, complaint: { ...again.complaint, message: text('passkey.notAccepted') } };
  }

  return {
    id: 'webauthn',
    displayName: phrase('passkey'),
    factorClass: 'POSSESSION',
    levelOfAssurance: 3,
    category: 'METHOD',
    identifies: true,
    enrols: true,
    amr: ['user', 'mfa'],
    credential: { type: 'webauthn', name: phrase('passkey'), setUpBy: 'CONFIGURE_PASSKEY' },
    configSchema: Config,
    async begin(step, complaint) {
      if (step.enrol && step.user) {
        const { realm, user, site, challenge, settings } = step;
        const asked = { site, challenge, userVerification: verificationOf(step) };
        const creation = await passkeys.creation(realm, user, { ...asked, realmName: settings.displayName });
        return enrolmentPage(creation, complaint);
      }
      return usePage(await requestOf(step), complaint);
    },
    async beside(step, complaint): Promise<Beside> {
      const failed = text('passkey.notUsedOther');
      const unknown = complaint?.values?.[UNKNOWN];
      return {
        words: text('passkey.signIn'),
        body: field({ does: 'get', options: await requestOf(step), failed, step: step.id, unknown }),
        script: passkeyScript,
      };
    },
    async verify(step, form) {
      const { realm, user, site, challenge } = step;
      if (step.enrol && user) return enrol(step, user, form);
      const again = (message: string, reason: string) =>
        ({ do: 'again', complaint: { field: 'passkey', message }, reason }) as const;
      if (!form.passkey) return again(text('passkey.unable'), '');
      const asked = { sent: form.passkey, site, challenge, userVerification: verificationOf(step) };
      const verdict = await passkeys.check(realm, user, asked);
      if (!verdict.ok) {
        const message = isOver(verdict.reason) ? text('passkey.over') : text('passkey.refused');
        const refused = { ...again(message, `passkey-${verdict.reason}`), user: verdict.user };
        const unknown = verdict.unknown;
        return unknown === undefined
          ? refused
          : { ...refused, complaint: { ...refused.complaint, values: { [UNKNOWN]: unknown } } };
      }
      if (verdict.synced && Config.parse(step.config).deviceBound)
        return { ...again(text('passkey.refused'), 'passkey-synced'), user: verdict.user };
      return { ...passedBy(verdict), user: verdict.user, standing: verdict.standing };
    },
  };
}

/** The reloaded page has a new challenge, which the same passkey can sign. */
const isOver = (reason: string): boolean => reason === 'late' || reason === 'used';

/** RFC 8176: a synced key counts as a software key. Without user verification the passkey proves only possession. */
export const passedBy = ({ credentialId, synced, userVerified }: UsedKey): Passed => ({
  do: 'passed',
  credentialId,
  amr: [synced ? 'swk' : 'hwk', 'user', ...(userVerified ? ['mfa'] : [])],
  ...(userVerified ? {} : { beside: true }),
});

/** The field that the script reads and fills in. */
const field = (of: {
  does: 'create' | 'get';
  options: object;
  failed: string;
  step?: string;
  unknown?: string | undefined;
}): Html => html`
<input type="hidden" name="passkey" data-does="${of.does}" data-passkey="${JSON.stringify(of.options)}"
 data-step="${of.step}" data-unknown="${of.unknown}" data-failed="${of.failed}" data-unable="${text('passkey.unable')}"
 data-known="${text('passkey.known')}">
<p class="hint" role="status" data-said></p>`;

const needsScript = () => html`<noscript><p class="error">${text('passkey.needsScript')}</p></noscript>`;

const usePage = (options: object, complaint: Complaint | undefined): StepPage => ({
  title: text('passkey.title'),
  submit: text('passkey.submit'),
  script: passkeyScript,
  body: html`<p class="lead">${text('passkey.lead')}</p>
${needsScript()}${field({ does: 'get', options, failed: text('passkey.notUsed'), unknown: complaint?.values?.[UNKNOWN] })}`,
});

export const enrolmentPage = (options: object, complaint: Complaint | undefined): StepPage => ({
  title: text('passkey.setUp'),
  submit: text('passkey.setUp'),
  plain: true,
  script: passkeyScript,
  body: html`<p class="lead">${text('passkey.setUpLead')}</p>
<div class="field">
<label for="label">${text('passkey.label')} <span class="soft">${text('otp.optional')}</span></label>
<input type="text" id="label" name="label" value="${complaint?.values?.label}" maxlength="${LABEL_MAX}" autocomplete="off">
</div>
${needsScript()}${field({ does: 'create', options, failed: text('passkey.noneSetUp') })}`,
});
