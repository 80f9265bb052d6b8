// The required actions VERIFY_EMAIL and VERIFY_PHONE: the user proves an address or a number by a code sent to it.
// verify-email.ts and verify-phone.ts have their pages and words; authenticators/contact.ts checks the proof.
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { text, translated } from '../../../http/texts.ts';
import type { Form, RequiredStep, Step, StepMemory, StepVerdict } from '../authenticators/authenticator.ts';
import type { Contact, Present } from '../authenticators/contact.ts';

export interface VerifyContactDeps {
  contact: Contact;
  transact: Transact;
  /** The form's field with the address or number. */
  field: 'email' | 'phone';
  /** In the language of the request. */
  words: Record<'label' | 'nowhere' | 'yours' | 'taken', () => string>;
  /** The values to keep if the user wants to enter another one; undefined: the user can't. */
  other(step: Step, present: Present): StepMemory | undefined;
  /** The address or number to prove, from the page on which the user enters it; undefined: none. */
  chosen(step: Step, form: Form, present: Present): Promise<string | undefined>;
}

export function createVerifyContact({ contact, transact, field, words, other, chosen }: VerifyContactDeps) {
  const contextOf = ({ realm, user }: Step, value: string) => `verify-${field}:${realm}:${user?.id}:${value}`;

  function sendTo(step: Step, value: string): Promise<StepMemory> {
    const { realm, by, site, user } = step;
    const mailing = { realm, origin: site.origin, by, userId: user?.id ?? '', context: contextOf(step, value) };
    return contact.send(mailing, value, (work) => transact(realm, work));
  }
  /** A link finds the sign-in by its `address`. */
  const keeping = (keep: StepMemory) =>
    ({ do: 'kept', keep, ...(keep.address !== undefined && { address: keep.address }) }) as const;
  const again = (
    at: string,
    message: string,
    { values, keep }: { values?: StepMemory; keep?: StepMemory | undefined } = {},
  ) =>
    ({
      do: 'again',
      complaint: { field: at, message, ...(values && { values }) },
      reason: '',
      ...(keep && { keep }),
    }) as const;

  async function choose(step: Step, form: Form, userId: string, present: Present): Promise<StepVerdict> {
    const { realm } = step;
    const values = { [field]: form[field] ?? '' };
    const value = await chosen(step, form, present);
    if (value === undefined) return again('form', words.nowhere(), { values });
    const refusal = await contact.refusal(realm, userId, present, value);
    if (refusal?.why === 'kept-by-realm') return again('form', words.nowhere(), { values });
    if (refusal?.why === 'confirmed-already') return again(field, words.yours(), { values });
    // Users can't correct an address or number that the realm manages.
    if (refusal && present.mayChange)
      return again(field, text('profile.fault', { label: words.label(), fault: translated(refusal.fault) }), {
        values,
      });
    return keeping(await sendTo(step, value));
  }

  const verify: RequiredStep['verify'] = async (step, form) => {
    const { realm, user, proven, kept, by, byThem } = step;
    if (!user || !proven) throw new Error('a contact is confirmed for a user who has proven who they are');
    const before = await contact.of(realm, user.id);
    const another = form.other === undefined ? undefined : other(step, before);
    if (another) return { do: 'kept', keep: another };
    if (kept.code === undefined) return choose(step, form, user.id, before);
    const value = contact.sentTo(kept);
    if (form.resend !== undefined)
      return contact.mayResend(kept)
        ? keeping(await sendTo(step, value))
        : again('code', text('messageCode.sentJustNow'));
    const confirmed = await contact.confirm(
      { realm, user, by, byThem, context: contextOf(step, value), kept, before },
      form,
      (work) => transact(realm, work),
      (tx) => mustHold(tx.sql, realm, proven),
    );
    if (confirmed.do === 'confirmed') return { do: 'done' };
    if (confirmed.do === 'again') return again('code', confirmed.message, { keep: confirmed.keep });
    return again('code', confirmed.do === 'taken' ? words.taken() : text('messageCode.wrong'));
  };

  return { sendTo, verify };
}
