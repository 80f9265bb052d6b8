// Owns: creating an account as a step of a sign-in, which then continues to its destination.
// Does not own: the account's rows (features/people/users), the sign-in around it (features/authentication/sign-in).
// Implements: specification 4.2 (self-registration). If the realm confirms addresses first, the pages don't tell whether the address has an account: its owner gets a mail.
import { z } from 'zod';
import { asciiEmail } from '../../../contract/email.ts';
import type { By } from '../../../contract/events.ts';
import { idNamed } from '../../../crypto/ids.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import type { FieldFault } from '../../../http/field-errors.ts';
import { faultSentence, valuesIn, withValues } from '../../../http/profile-fields.ts';
import { termsFault, termsOf } from '../../../http/terms.ts';
import { text } from '../../../http/texts.ts';
import type { Captchas } from '../../configuration/captchas/check.ts';
import type { ChoosePassword } from '../../people/credentials/new-password.ts';
import type { Passkeys, UsedKey } from '../../people/credentials/passkeys.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { NewAccount, NewPerson, OwnAccounts } from '../../people/users/own-account.ts';
import type { Form, PageStep, Passed, Step, StepMemory } from '../authenticators/authenticator.ts';
import type { MailedCodes } from '../authenticators/mailed-code.ts';
import { enrolmentPage, LABEL_MAX, passedBy, passkeyConfigOf } from '../authenticators/webauthn.ts';
import { codePage, formPage, notNowPage, passkeyPage, passwordPage } from './pages.ts';
import { isWorkDone } from './proof-of-work.ts';

export interface RegisterDeps {
  accounts: OwnAccounts;
  choosePassword: ChoosePassword;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess'>;
  captchas: Captchas;
  passkeys: Pick<Passkeys, 'creation' | 'enrol'>;
  newId(): string;
  transact: Transact;
  seal: Seal;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** Limits the tries of one client address. */
  attempts: Pick<RateLimit, 'take'>;
}

/** A registration that waits for the confirmation of its address, or for a passkey. */
const Pending = z.object({
  /** The id of the future account, which the passkey is created for. */
  id: z.string(),
  person: z.object({
    username: z.string(),
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    attributes: z.record(z.string(), z.array(z.string())),
  }),
  /** null: the user wants a passkey instead. */
  phc: z.string().nullable(),
  /** The terms that the user accepted; absent: none. */
  terms: z.object({ url: z.string().nullable(), version: z.string().nullable() }).exactOptional(),
  emailVerified: z.boolean(),
});
type Pending = z.infer<typeof Pending>;

/**
 * The configuration under which the flow accepts a passkey alone; undefined: it doesn't, or the realm requires passwords
 * (sign-in/run.ts).
 */
const Config = z.object({ passkey: z.record(z.string(), z.unknown()).optional() });
const passkeyConfig = ({ config }: Step) => Config.parse(config).passkey;
class NoPasskey extends Error {}
const noPasskey = (reason: string): string =>
  reason === 'invalid' ? text('passkey.notSetUp') : text('passkey.notAccepted');
const NO_PASSWORD = { ok: true, phc: null } as const;
interface Waits {
  do: 'kept';
  keep: StepMemory;
}

const field = (form: Form, name: string): string => (form[name] ?? '').trim();

export function createRegister(deps: RegisterDeps): PageStep {
  const { accounts, choosePassword, codes, credentials, captchas, passkeys, transact, seal, sends, attempts } = deps;
  const contextOf = ({ realm, challenge }: Step) => `register:${realm}:${challenge}`;
  /** Each submitted form gets another challenge, so that no proof of work counts twice. */
  const challengeOf = (step: Step): string => `${step.challenge}.${step.kept.sent ?? 0}`;
  const sentAgain = ({ kept }: Step): StepMemory => ({ sent: String(Number(kept.sent ?? 0) + 1) });

  const sealed = (step: Step, pending: Pending): string =>
    seal.seal(JSON.stringify(pending), contextOf(step)).toString('base64');
  const opened = (step: Step): Pending =>
    Pending.parse(JSON.parse(seal.open(Buffer.from(step.kept.pending ?? '', 'base64'), contextOf(step)).toString()));

  async function personIn(step: Step, form: Form): Promise<NewPerson> {
    const inputs = await accounts.inputs(step.realm);
    const email = asciiEmail(field(form, 'email'));
    const username = step.settings.registrationEmailAsUsername ? email : field(form, 'username');
    const nobody = { username, email, firstName: null, lastName: null, attributes: {} };
    return withValues(inputs, valuesIn(inputs, form), nobody);
  }

  /** Mails to the entered address: a new user gets a code, the owner of an existing account gets a notice. */
  async function mail(step: Step, pending: Pending): Promise<StepMemory> {
    const { realm, by, site } = step;
    const { email } = pending.person;
    const owner = await accounts.ownerOf(realm, email);
    const mailing = { realm, origin: site.origin, by, userId: null, email, context: contextOf(step), owner };
    const kept = await transact(realm, (tx) => codes.send(tx, mailing));
    return { ...kept, ...sentAgain(step), pending: sealed(step, pending) };
  }

  /** @param withPasskey writes the passkey with the account; absent: the account has a password */
  async function create(step: Step, pending: Pending, withPasskey?: NewAccount['beside']): Promise<Passed | undefined> {
    const { id, person, phc, terms, emailVerified } = pending;
    const account = { id, person, phc: phc ?? undefined, emailVerified, terms };
    const made = await accounts.create(step.realm, step.by.ipAddress ?? '', {
      ...account,
      ...(withPasskey && { beside: withPasskey, registered: { passkey: true } }),
    });
    return made && { do: 'passed', ...made, by: { authenticatorId: 'username-password', config: {} } };
  }

  /** The next step once the address is settled: setting up the passkey, or none. */
  async function ready(step: Step, pending: Pending): Promise<Passed | Waits | undefined> {
    if (pending.phc !== null) return create(step, pending);
    return { do: 'kept', keep: { ...sentAgain(step), pending: sealed(step, pending), stage: 'passkey' } };
  }

  return {
    async begin(step, complaint) {
      if (step.kept.stage === 'password') return passwordPage(step.settings, complaint);
      if (step.kept.stage === 'passkey') {
        const { id, person } = opened(step);
        const { site, challenge, realm } = step;
        const asked = { site, challenge, realmName: step.settings.displayName, userVerification: 'required' } as const;
        const creation = await passkeys.creation(realm, { id, username: person.username }, asked);
        return passkeyPage(enrolmentPage(creation, complaint));
      }
      if (step.kept.code !== undefined) return codePage(step.kept.email ?? '', complaint);
      const inputs = await accounts.inputs(step.realm);
      const work = step.settings.captchaProvider === 'pow' ? challengeOf(step) : undefined;
      const captcha = await captchas.widget(step.realm, step.settings);
      if (captchas.asks(step.settings) && !captcha) return notNowPage();
      const takesPasskey = passkeyConfig(step) !== undefined;
      return formPage({ settings: step.settings, inputs, complaint, work, captcha, takesPasskey });
    },

    async verify(step, form) {
      const { realm, settings, by, kept } = step;
      const values = Object.fromEntries(
        Object.entries(form).filter(
          ([name]) => ![...captchas.fields, 'password', 'repeated', 'csrf', 'work', 'asked'].includes(name),
        ),
      );
      const again = (at: string, message: string, keep?: StepMemory) =>
        ({ do: 'again', complaint: { field: at, message, values }, reason: '', ...(keep && { keep }) }) as const;
      if (kept.stage === 'password') return withPassword(step, form);
      if (kept.stage === 'passkey') return withPasskey(step, form);
      if (kept.code !== undefined) return confirm(step, form);
      if (attempts.take(inRealm(realm, by.ipAddress ?? '')) !== undefined)
        return again('form', text('register.tooMany'));
      const { captchaProvider, proofOfWorkBits } = settings;
      if (captchaProvider === 'pow' && !isWorkDone(challengeOf(step), form.work ?? '', proofOfWorkBits))
        return again('form', text('register.noWork'));
      if (captchas.asks(settings) && !(await captchas.passes(realm, settings, form)))
        return again('form', text('register.noCaptcha'));
      const keep = sentAgain(step);
      const person = await personIn(step, form);
      const unfit = await personFaults(step, person);
      const chosen = passkeyConfig(step) && form.how === 'passkey' ? NO_PASSWORD : await chooseFor(step, person, form);
      const unaccepted = termsFault(settings, form);
      const [fault, ...others] = [
        ...unfit,
        ...(chosen.ok ? [] : chosen.faults),
        ...(unaccepted === undefined ? [] : [{ field: 'terms', message: unaccepted }]),
      ];
      if (fault) return { do: 'again', complaint: { ...fault, values, others }, reason: '', keep };
      if (!chosen.ok) throw new Error('a password without fault is chosen');
      const { phc } = chosen;
      const terms = termsOf(settings);
      // One proof of work creates one account, even if several replicas get its form at once: the id is derived from the
      // challenge.
      const id = captchaProvider === 'pow' ? idNamed(`${contextOf(step)} ${challengeOf(step)}`) : deps.newId();
      const pending = Pending.parse({ id, person, phc, ...(terms && { terms }), emailVerified: false });
      if (settings.registrationVerifyEmail && (await sends(realm, 'EMAIL'))) {
        const sent = await mail(step, pending);
        return { do: 'kept', keep: sent, ...(sent.address !== undefined && { address: sent.address }) };
      }
      return (await ready(step, pending)) ?? again('email', text('register.taken'), keep);
    },
  };

  /** The faults of the fields of the person, the username's first, as on the page. */
  async function personFaults({ realm, settings }: Step, person: NewPerson): Promise<FieldFault[]> {
    const { registrationEmailAsUsername: byEmail } = settings;
    const found = (await accounts.faults(realm, person)).map((one) => ({
      field: one.path === 'username' && byEmail ? 'email' : one.path,
      message: faultSentence(one),
    }));
    const faults = found.filter(({ field: at }, i) => found.findIndex((one) => one.field === at) === i);
    const username = faults.filter(({ field: at }) => at === 'username');
    const others = faults.filter(({ field: at }) => at !== 'username');
    if (byEmail || username.length > 0) return [...username, ...others];
    // The page must show that a chosen username is taken; it never shows that an address is.
    const isTaken = await accounts.usernameTaken(realm, person);
    return isTaken ? [{ field: 'username', message: text('register.usernameTaken') }, ...others] : others;
  }

  function chooseFor({ realm }: Step, { username, email, firstName, lastName }: NewPerson, form: Form) {
    return choosePassword(realm, { username, email, firstName, lastName }, form);
  }

  async function withPassword(step: Step, form: Form) {
    const pending = opened(step);
    const again = (at: string, message: string) =>
      ({ do: 'again', complaint: { field: at, message }, reason: '' }) as const;
    const chosen = await chooseFor(step, pending.person, form);
    if (!chosen.ok) {
      const [first, ...others] = chosen.faults;
      return { do: 'again', complaint: { ...first, others }, reason: '' } as const;
    }
    return (await create(step, { ...pending, phc: chosen.phc })) ?? again('form', text('register.taken'));
  }

  async function withPasskey(step: Step, form: Form) {
    const { realm, site, challenge, kept } = step;
    const config = passkeyConfig(step);
    if (form.instead !== undefined || !config) return { do: 'kept', keep: { ...kept, stage: 'password' } } as const;
    const label = (form.label ?? '').trim().slice(0, LABEL_MAX);
    const again = (message: string) =>
      ({ do: 'again', complaint: { field: 'form', message, values: { label } }, reason: '' }) as const;
    const { deviceBound = false } = passkeyConfigOf(config);
    const sent = { sent: form.passkey ?? '', site, challenge, deviceBound, label: label === '' ? null : label };
    let key: UsedKey | undefined;
    const write = async (tx: Tx, by: By, user: KnownUser) => {
      const enrolled = await passkeys.enrol(tx, by, realm, user, { ...sent, newAccount: true });
      if (!enrolled.ok) throw new NoPasskey(enrolled.reason);
      key = enrolled;
    };
    try {
      const made = await create(step, opened(step), write);
      if (!made || !key) return again(text('register.taken'));
      return { ...made, ...passedBy(key), by: { authenticatorId: 'webauthn', config } };
    } catch (error) {
      if (error instanceof NoPasskey) return again(noPasskey(error.message));
      throw error;
    }
  }

  async function confirm(step: Step, form: Form) {
    const { kept } = step;
    const again = (message: string, keep?: StepMemory) =>
      ({ do: 'again', complaint: { field: 'code', message }, reason: '', ...(keep && { keep }) }) as const;
    if (form.other !== undefined) return { do: 'kept', keep: sentAgain(step) } as const;
    if (form.resend !== undefined) {
      if (!codes.mayResend(kept)) return again(text('messageCode.sentJustNow'));
      const sent = await mail(step, opened(step));
      return { do: 'kept', keep: sent, ...(sent.address !== undefined && { address: sent.address }) } as const;
    }
    const proof = await codes.check(step.realm, kept, form, contextOf(step));
    await codes.countGuess(credentials, { realm: step.realm, user: undefined, by: step.by }, proof);
    if (proof.do === 'again') return again(proof.message, proof.keep);
    return (await ready(step, { ...opened(step), emailVerified: true })) ?? again(text('register.taken'));
  }
}
