// The authenticators email-otp and sms-otp: a code sent to a verified address of a known user. The code is valid for ten
// minutes, for this sign-in alone, and for five tries. Guesses count with those of all other codes.

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { type Phrase, phrase } from '../../../contract/phrases.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Transact } from '../../../db/transact.ts';
import { codeField } from '../../../http/code-field.ts';
import { faultsOf } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Complaint, Method, Step, StepMemory, StepPage } from './authenticator.ts';
import { lockedWords } from './locked-words.ts';

const DIGITS = 6;
const LIFETIME_SECONDS = 600;
const MOST_TRIES = 5;
const AGAIN_AFTER_MS = 30_000;

export interface MessageCodeDeps {
  credentials: Pick<Credentials, 'guess' | 'standing'>;
  transact: Transact;
  send: Send;
  seal: Seal;
  now: () => Date;
}

interface Kind {
  id: string;
  displayName: Phrase;
  channel: 'EMAIL' | 'SMS';
  templateKey: 'otp-email' | 'otp-sms';
  amr: string[];
  /** The page's text about where the code went. */
  sent: 'messageCode.byEmail' | 'messageCode.bySms';
}
const kinds: Kind[] = [
  {
    id: 'email-otp',
    displayName: phrase('emailCode'),
    channel: 'EMAIL',
    templateKey: 'otp-email',
    amr: ['otp'],
    sent: 'messageCode.byEmail',
  },
  {
    id: 'sms-otp',
    displayName: phrase('smsCode'),
    channel: 'SMS',
    templateKey: 'otp-sms',
    amr: ['sms'],
    sent: 'messageCode.bySms',
  },
];

export const createMessageCodes = (deps: MessageCodeDeps): Method[] =>
  kinds.map((kind) => createMessageCode(kind, deps));

function createMessageCode(
  { id, displayName, channel, templateKey, amr, sent: sentTo }: Kind,
  { credentials, transact, send, seal, now }: MessageCodeDeps,
): Method {
  const addressOf = async ({ realm }: Step, user: KnownUser): Promise<string | null> =>
    (await credentials.standing(realm, user.id))?.reach[channel] ?? null;
  /** The digest contains the address, so the code proves it only while the user has it. */
  const digestOf = ({ realm }: Step, user: KnownUser, code: string, to: string | null): string =>
    seal.digest(code, `${id}:${realm}:${user.id}:${to}`).toString('base64url');

  /** Sends a new code. @returns the values to keep */
  async function sendCode(step: Step, user: KnownUser): Promise<StepMemory> {
    const { realm, by } = step;
    const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
    const to = await addressOf(step, user);
    const goodForSeconds = LIFETIME_SECONDS;
    const message = { realm, by, userId: user.id, to, templateKey, values: { code }, goodForSeconds };
    const isSent = await transact(realm, (tx) => send(tx, message));
    const at = now().getTime();
    // If no code was sent, the digest of a random value is kept, which no code matches.
    return { code: digestOf(step, user, isSent ? code : newSecret(), to), at: String(at), tries: '0' };
  }

  return {
    id,
    displayName,
    factorClass: 'POSSESSION',
    levelOfAssurance: 2,
    category: 'METHOD',
    identifies: false,
    enrols: false,
    amr,
    configSchema: z.strictObject({}),
    availableTo: ({ reach }) => reach[channel] !== null,
    async begin(step, complaint) {
      if (!step.user) throw new Error(`${id} checks somebody who is known`);
      const keep = step.kept.code === undefined ? await sendCode(step, step.user) : undefined;
      return { ...codePage(sentTo, complaint), ...(keep && { keep }) };
    },
    async verify(step, form) {
      const { user, kept, realm, by } = step;
      if (!user) throw new Error(`${id} checks somebody who is known`);
      const again = (message: string, reason = '', keep?: StepMemory) =>
        ({ do: 'again', complaint: { field: 'code', message }, reason, ...(keep && { keep }) }) as const;
      const sentAt = Number(kept.at ?? 0);
      if (form.resend !== undefined) {
        if (now().getTime() - sentAt < AGAIN_AFTER_MS) return again(text('messageCode.sentJustNow'));
        return { do: 'kept', keep: await sendCode(step, user) };
      }
      const code = (form.code ?? '').replace(/[\s-]/g, '');
      if (!/^\d{6}$/.test(code)) return again(text('messageCode.digits', { digits: DIGITS }));
      const tries = Number(kept.tries ?? 0) + 1;
      const over = tries > MOST_TRIES || now().getTime() - sentAt > LIFETIME_SECONDS * 1000;
      if (kept.code === undefined || over) return again(text('messageCode.over'));
      const sent = kept.code;
      const to = await addressOf(step, user);
      const verdict = await credentials.guess(realm, user, by, async () =>
        sameSecret(digestOf(step, user, code, to), sent)
          ? ({ ok: true } as const)
          : ({ ok: false, reason: 'wrong' } as const),
      );
      if (verdict.ok) return { do: 'passed' };
      const wrong = text('messageCode.wrong');
      const message = verdict.reason === 'locked' ? lockedWords(step, wrong) : wrong;
      return again(message, `${id}-${verdict.reason}`, { ...kept, tries: String(tries) });
    },
  };
}

const codePage = (sent: Kind['sent'], complaint: Complaint | undefined): StepPage => ({
  title: text('otp.title'),
  submit: text('otp.submit'),
  body: html`<p class="lead">${text(sent, { minutes: LIFETIME_SECONDS / 60 })}</p>
${codeField({ faults: faultsOf(complaint), required: false })}`,
  below: html`<button class="link" name="resend" value="1">${text('messageCode.sendNew')}</button>`,
});
