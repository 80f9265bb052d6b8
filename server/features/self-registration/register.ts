// Owns: making an account of one's own, as a step of a sign-in: so it goes on to wherever that leads.
// Does not own: the account's rows (features/users), the sign-in around it (features/sign-in).
// Implements: specification 4.2 (self-registration). Where the address is confirmed first, whether somebody has it already is said by
// mail to them, and to nobody else: the pages are the same.
import { z } from 'zod';
import type { Settings } from '../../contract/settings.ts';
import type { Seal } from '../../crypto/seal.ts';
import type { Transact } from '../../db/transact.ts';
import { type Attempts, inRealm } from '../../domain/attempts.ts';
import { valuesIn, withValues } from '../../http/profile-fields.ts';
import { said, text } from '../../http/texts.ts';
import type { Form, Kept, PageStep, Step } from '../authenticators/authenticator.ts';
import type { MailedCodes, mailedCodeFields } from '../authenticators/mailed-code.ts';
import type { Captchas } from '../captchas/check.ts';
import type { ChoosePassword } from '../credentials/new-password.ts';
import type { NewPerson, OwnAccounts } from '../users/own-account.ts';
import { codePage, formPage } from './pages.ts';
import { isWorkDone } from './proof-of-work.ts';

export interface RegisterDeps {
  accounts: OwnAccounts;
  choosePassword: ChoosePassword;
  codes: MailedCodes;
  codeFields: typeof mailedCodeFields;
  captchas: Captchas;
  transact: Transact;
  seal: Seal;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** Bounds how often one address may try. */
  attempts: Pick<Attempts, 'take'>;
}

/** What waits for its address to be confirmed. */
const Pending = z.object({
  person: z.object({
    username: z.string(),
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    attributes: z.record(z.string(), z.array(z.string())),
  }),
  phc: z.string(),
  accepted: z.boolean(),
});
type Pending = z.infer<typeof Pending>;

const asksForTerms = ({ termsUrl, termsVersion }: Pick<Settings, 'termsUrl' | 'termsVersion'>): boolean =>
  termsUrl !== null || termsVersion !== null;
const field = (form: Form, name: string): string => (form[name] ?? '').trim();

export function createRegister(deps: RegisterDeps): PageStep {
  const { accounts, choosePassword, codes, codeFields, captchas, transact, seal, sends, attempts } = deps;
  const contextOf = ({ realm, challenge }: Step) => `register:${realm}:${challenge}`;
  /** Another one for each form that was sent, so that no work does for two. */
  const challengeOf = (step: Step): string => `${step.challenge}.${step.kept.sent ?? 0}`;
  const sentAgain = ({ kept }: Step): Kept => ({ sent: String(Number(kept.sent ?? 0) + 1) });

  const sealed = (step: Step, pending: Pending): string =>
    seal.seal(JSON.stringify(pending), contextOf(step)).toString('base64');
  const opened = (step: Step): Pending =>
    Pending.parse(JSON.parse(seal.open(Buffer.from(step.kept.pending ?? '', 'base64'), contextOf(step)).toString()));

  async function personIn(step: Step, form: Form): Promise<NewPerson> {
    const inputs = await accounts.inputs(step.realm);
    const email = field(form, 'email');
    const username = step.settings.registrationEmailAsUsername ? email : field(form, 'username');
    const nobody = { username, email, firstName: null, lastName: null, attributes: {} };
    return withValues(inputs, valuesIn(inputs, form), nobody);
  }

  /** Asks whoever has the address: whoever is new, to confirm it, or its owner whether it was they. */
  async function mail(step: Step, pending: Pending): Promise<Kept> {
    const { realm, by, site } = step;
    const { email } = pending.person;
    const owner = await accounts.ownerOf(realm, email);
    const mailing = { realm, origin: site.origin, by, userId: null, email, context: contextOf(step), owner };
    const kept = await transact(realm, (tx) => codes.send(tx, mailing));
    return { ...kept, ...sentAgain(step), pending: sealed(step, pending) };
  }

  async function create(step: Step, { person, phc, accepted }: Pending, emailVerified: boolean) {
    const { termsUrl: url, termsVersion: version } = step.settings;
    const terms = accepted ? { url, version } : undefined;
    const made = await accounts.create(step.realm, step.by.ipAddress ?? '', { person, phc, emailVerified, terms });
    return made && ({ do: 'passed', ...made } as const);
  }

  return {
    async begin(step, complaint) {
      if (step.kept.code !== undefined) return codePage(codeFields, step.kept.email ?? '', complaint);
      const inputs = await accounts.inputs(step.realm);
      const work = step.settings.captchaProvider === 'pow' ? challengeOf(step) : undefined;
      const captcha = await captchas.widget(step.realm, step.settings);
      const asked = { work, captcha, asksForTerms: asksForTerms(step.settings) };
      return formPage({ settings: step.settings, inputs, complaint, ...asked });
    },

    async verify(step, form) {
      const { realm, settings, by, kept } = step;
      const values = Object.fromEntries(
        Object.entries(form).filter(
          ([name]) => ![...captchas.fields, 'password', 'repeated', 'csrf', 'work', 'asked'].includes(name),
        ),
      );
      const again = (at: string, message: string, keep?: Kept) =>
        ({ do: 'again', complaint: { field: at, message, values }, reason: '', ...(keep && { keep }) }) as const;
      if (kept.code !== undefined) return confirm(step, form);
      if (attempts.take(inRealm(realm, by.ipAddress ?? '')) !== undefined)
        return again('form', text('register.tooMany'));
      if (settings.captchaProvider === 'pow' && !isWorkDone(challengeOf(step), form.work ?? ''))
        return again('form', text('register.noWork'));
      if (captchas.asks(settings) && !(await captchas.passes(realm, settings, form)))
        return again('form', text('register.noCaptcha'));
      const keep = sentAgain(step);
      const person = await personIn(step, form);
      const fault = await accounts.fault(realm, person);
      if (fault) {
        const label = fault.label || text(fault.path === 'email' ? 'account.email' : 'account.username');
        const at = fault.path === 'username' && settings.registrationEmailAsUsername ? 'email' : fault.path;
        return again(at, text('profile.fault', { label, fault: said(fault.message) }), keep);
      }
      if (asksForTerms(settings) && form.terms !== 'on') return again('terms', text('register.acceptFirst'), keep);
      // A name that people choose has to be told when it is taken; an address never is.
      if (!settings.registrationEmailAsUsername && (await accounts.usernameTaken(realm, person)))
        return again('username', text('register.usernameTaken'), keep);
      const chosen = await choosePassword(realm, { username: person.username, email: person.email }, form);
      if (!chosen.ok) return again(chosen.field, chosen.message, keep);
      const pending = Pending.parse({ person, phc: chosen.phc, accepted: asksForTerms(settings) });
      if (settings.registrationVerifyEmail && (await sends(realm, 'EMAIL'))) {
        const sent = await mail(step, pending);
        return { do: 'kept', keep: sent, ...(sent.address !== undefined && { address: sent.address }) };
      }
      return (await create(step, pending, false)) ?? again('email', text('register.taken'), keep);
    },
  };

  async function confirm(step: Step, form: Form) {
    const { kept } = step;
    const again = (message: string, keep?: Kept) =>
      ({ do: 'again', complaint: { field: 'code', message }, reason: '', ...(keep && { keep }) }) as const;
    if (form.other !== undefined) return { do: 'kept', keep: sentAgain(step) } as const;
    if (form.resend !== undefined) {
      if (!codes.mayResend(kept)) return again(text('messageCode.sentJustNow'));
      const sent = await mail(step, opened(step));
      return { do: 'kept', keep: sent, ...(sent.address !== undefined && { address: sent.address }) } as const;
    }
    const proof = codes.check(step.realm, kept, form, contextOf(step));
    if (proof.do === 'again') return again(proof.message, proof.keep);
    return (await create(step, opened(step), true)) ?? again(text('register.taken'));
  }
}
