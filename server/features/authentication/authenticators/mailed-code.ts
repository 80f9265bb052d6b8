// A code and a link that prove an e-mail address, or a code that proves a phone number, valid only for the sign-in that
// asked for them. The code or the link is enough. The code allows five tries; the link works in the same browser. A
// requester can name any address, so the code has more digits than one that follows a first factor (decisions "Guessed
// codes").
import { randomInt } from 'node:crypto';
import type { By } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Tx } from '../../../db/transact.ts';
import type { CodeGuesses } from '../../../domain/code-guesses.ts';
import { linkDigest, linkTo } from '../../../domain/links.ts';
import { codeField } from '../../../http/code-field.ts';
import type { Faults } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Form, StepMemory, StepPage } from './authenticator.ts';

const DIGITS = 8;
const LIFETIME_SECONDS = 600;
const MOST_TRIES = 5;
const AGAIN_AFTER_MS = 30_000;

export interface MailedCodeDeps {
  send: Send;
  /** The limit of guesses for one address. The link still works beyond it. */
  codeGuesses: Pick<CodeGuesses, 'ofAddress'>;
  seal: Seal;
  now: () => Date;
}
export interface Mailing {
  realm: string;
  origin: string;
  by: By;
  /** null: the user has no account yet. */
  userId: string | null;
  email: string;
  /** The purpose of the code. It is invalid for any other. */
  context: string;
  /** The present owner of the address. Only the owner learns of the request, by mail. */
  owner: { id: string; email: string | null } | undefined;
}
export interface Texting {
  realm: string;
  by: By;
  userId: string;
  /** In E.164 form. */
  number: string;
  context: string;
}
export type Proof = { do: 'proven' } | { do: 'again'; message: string; reason: string; keep?: StepMemory };

export function createMailedCodes({ send, codeGuesses, seal, now }: MailedCodeDeps) {
  const newCode = (): string => String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
  const digestOf = (context: string, code: string): string => seal.digest(code, context).toString('base64url');
  /** If no code was sent, the digest of a random value is kept, which no code matches. */
  const kept = (context: string, code: string, isSent: boolean): StepMemory => ({
    code: digestOf(context, isSent ? code : newSecret()),
    at: String(now().getTime()),
    tries: '0',
  });
  return {
    /** @returns the values to keep; the link finds the sign-in by their `address` */
    async send(tx: Tx, { realm, origin, by, userId, email, context, owner }: Mailing): Promise<StepMemory> {
      const code = newCode();
      const secret = newSecret();
      const goodForSeconds = LIFETIME_SECONDS;
      let isSent = false;
      if (owner) {
        const link = `${origin}/realms/${realm}/login?for=account`;
        const to = owner.email ?? email;
        const values = { link };
        await send(tx, {
          realm,
          by,
          userId: owner.id,
          requester: userId,
          to,
          templateKey: 'account-exists-email',
          values,
          goodForSeconds,
        });
      } else {
        const values = { code, link: linkTo(origin, realm, secret) };
        const recipient = userId === null ? { userId, stranger: true as const } : { userId };
        const asked = {
          realm,
          by,
          ...recipient,
          requester: userId,
          to: email,
          templateKey: 'verify-email',
          values,
        } as const;
        isSent = await send(tx, { ...asked, goodForSeconds });
      }
      return { email, address: linkDigest(secret), ...kept(context, code, isSent) };
    },

    /** @returns the values to keep */
    async text(tx: Tx, { realm, by, userId, number, context }: Texting): Promise<StepMemory> {
      const code = newCode();
      const values = { code };
      const goodForSeconds = LIFETIME_SECONDS;
      const asked = { realm, by, userId, requester: userId, to: number, templateKey: 'otp-sms', values } as const;
      return { phone: number, ...kept(context, code, await send(tx, { ...asked, goodForSeconds })) };
    },

    mayResend: ({ at = '0' }: StepMemory): boolean => now().getTime() - Number(at) >= AGAIN_AFTER_MS,

    /** Checks the code or the link in a form. `reason` is for the audit log. */
    async check(realm: string, kept: StepMemory, form: Form, context: string): Promise<Proof> {
      const again = (message: string, reason = '', keep?: StepMemory): Proof => ({
        do: 'again',
        message,
        reason,
        ...(keep && { keep }),
      });
      const isOver = now().getTime() - Number(kept.at ?? 0) > LIFETIME_SECONDS * 1000;
      if (form.link !== undefined) {
        if (isOver || !sameSecret(linkDigest(form.link), kept.address ?? ''))
          return again(text('link.over'), 'link-wrong');
        return { do: 'proven' };
      }
      const code = (form.code ?? '').replace(/[\s-]/g, '');
      if (!/^\d{8}$/.test(code)) return again(text('messageCode.digits', { digits: DIGITS }));
      const tries = Number(kept.tries ?? 0) + 1;
      const isOut = isOver || tries > MOST_TRIES;
      if (isOut || !(await codeGuesses.ofAddress(realm, kept.email ?? kept.phone ?? '')))
        return again(text('messageCode.over'));
      if (sameSecret(digestOf(context, code), kept.code ?? '')) return { do: 'proven' };
      return again(text('messageCode.wrong'), 'code-wrong', { ...kept, tries: String(tries) });
    },

    /**
     * Counts the guess with those of all other codes: the kept counter alone restarts with each new code.
     * @param of `user`: the user of the account; undefined: no account, which takes the same steps. `byAnybody`: the
     * requester has proven no factor of the account
     * @returns whether the code is right and the limit is not exceeded
     */
    async countGuess(
      credentials: Pick<Credentials, 'guess'>,
      {
        realm,
        user,
        by,
        byAnybody = false,
      }: { realm: string; user: KnownUser | undefined; by: By; byAnybody?: boolean },
      proof: Proof,
    ): Promise<boolean> {
      const ok = proof.do === 'proven';
      const isGuess = ok || proof.reason !== '';
      return isGuess && (await credentials.guess(realm, user, by, async () => ({ ok }), { byAnybody })).ok;
    },
  };
}
export type MailedCodes = ReturnType<typeof createMailedCodes>;

/** The contents of the page on which the user enters the code. */
export const mailedCodeFields = (
  email: string,
  { faults, other }: { faults: Faults; other?: string | undefined },
): Pick<StepPage, 'body' | 'below'> => ({
  body: html`<p class="lead">${text('verify.lead', { email, minutes: LIFETIME_SECONDS / 60 })}</p>
${codeField({ faults, required: false })}`,
  below: html`<button class="link" name="resend" value="1">${text('messageCode.sendNew')}</button>
${other !== undefined && html`<button class="link" name="other" value="1">${other}</button>`}`,
});
