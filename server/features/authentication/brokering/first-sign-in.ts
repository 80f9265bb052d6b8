// A user's first sign-in with an identity provider, by the steps of its flow: completing the profile, proving the address,
// and creating an account. If an account has the address already, the identity is linked to it only after a proof of that
// account: its password, or a code to its confirmed address. In every flow, an equal address alone proves nothing. A realm
// that confirms addresses does so before it creates an account or reveals that one exists.

import type { By } from '../../../contract/events.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import type { Transact } from '../../../db/transact.ts';
import { faultSentence, valuesIn, withValues } from '../../../http/profile-fields.ts';
import { text } from '../../../http/texts.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { NewPerson, OwnAccounts } from '../../people/users/own-account.ts';
import { applyProvided } from '../../people/users/provided.ts';
import type { Form, Step, StepMemory, StepPage, StepVerdict } from '../authenticators/authenticator.ts';
import type { MailedCodes } from '../authenticators/mailed-code.ts';
import { asksAlways, hasFirstStep, nextStep, stepsOf } from './first-steps.ts';
import type { Links } from './links.ts';
import { codePage, linkPage, reviewPage } from './pages.ts';
import type { Arrived } from './person.ts';
import type { Provider, Providers } from './providers.ts';
import type { Stage } from './stage.ts';

export interface FirstSignInDeps {
  accounts: OwnAccounts;
  credentials: Pick<Credentials, 'checkPassword' | 'guess' | 'standing'>;
  codes: MailedCodes;
  links: Pick<Links, 'make'>;
  providers: Pick<Providers, 'named'>;
  transact: Transact;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** The first-sign-in steps of a flow. */
  firstSteps(realm: string, flow: string): Promise<readonly TreeNode[]>;
}

type Review = Extract<Stage, { is: 'review' }>;
type Mail = Extract<Stage, { is: 'mail' }>;
type Link = Extract<Stage, { is: 'link' }>;
type Later = Review | Mail | Link;
type Goal = Pick<Review, 'arrived' | 'person' | 'last' | 'reviewed' | 'proven'> & {
  /** The values that the user entered. */
  values?: StepMemory;
};

export type Outcome =
  | { do: 'verdict'; verdict: StepVerdict }
  | { do: 'stage'; stage: Later; complaint?: { field: string; message: string } }
  /** The account was created. */
  | { do: 'made'; user: KnownUser; linkId: string; arrived: Arrived }
  /** The user has proven to own this account. The identity is linked when the sign-in ends. */
  | { do: 'theirs'; user: KnownUser; credentialId?: string; arrived: Arrived };

const field = (form: Form, name: string): string => (form[name] ?? '').trim();
const sameAddress = (a: string, b: string | undefined): boolean => a.toLowerCase() === b?.toLowerCase();
const NAMES = new Set(['username', 'email']);

export function createFirstSignIns(deps: FirstSignInDeps) {
  const { accounts, credentials, codes, links, providers, transact, sends, firstSteps } = deps;
  const contextOf = ({ realm, challenge }: Step, { providerId, subject }: Arrived): string =>
    `brokering:${realm}:${challenge}:${providerId}:${subject}`;
  const again = (at: string, message: string, values: StepMemory = {}, reason = ''): Outcome => ({
    do: 'verdict',
    verdict: { do: 'again', complaint: { field: at, message, values }, reason },
  });
  const over = (message: string, reason: string): Outcome => ({
    do: 'verdict',
    verdict: { do: 'again', complaint: { field: 'form', message }, reason, keep: {}, leaves: true },
  });

  /** The user with this address, as username or as address. */
  async function ownerOf(realm: string, email: string): Promise<Link['owner'] | undefined> {
    const owner = email === '' ? undefined : await accounts.ownerOf(realm, email);
    return owner && { id: owner.id, username: owner.username };
  }
  /** The confirmed address of an enabled account, if the realm sends e-mail. */
  async function reachOf(realm: string, userId: string): Promise<string | undefined> {
    const standing = await credentials.standing(realm, userId);
    const email = standing?.enabled ? standing.reach.EMAIL : null;
    return email !== null && (await sends(realm, 'EMAIL')) ? email : undefined;
  }

  /** The account that a code to this address proves. An unknown address takes the same queries. */
  async function openedBy(realm: string, email: string): Promise<Link['owner'] | undefined> {
    const owner = await ownerOf(realm, email);
    const reach = await reachOf(realm, owner?.id ?? NIL_ID);
    return reach?.toLowerCase() === email.toLowerCase() ? owner : undefined;
  }

  const titleOf = async (realm: string, { alias }: Arrived): Promise<string> =>
    (await providers.named(realm, alias))?.title ?? alias;

  /** The first error of the account as it would be created. */
  async function faultOf(step: Step, { arrived, person }: Goal): Promise<{ at: string; message: string } | undefined> {
    const { realm, settings } = step;
    const [fault] = await accounts.faults(realm, person);
    const byEmail = settings.registrationEmailAsUsername;
    if (fault) {
      const at = fault.path === 'username' && byEmail ? 'email' : fault.path;
      return { at, message: faultSentence(fault) };
    }
    if (!byEmail && (await accounts.usernameTaken(realm, person, arrived.username)))
      return { at: 'username', message: text('register.usernameTaken') };
    return undefined;
  }

  const stepsFor = async (realm: string, flow: string | null | undefined): Promise<readonly TreeNode[]> =>
    stepsOf(flow ? await firstSteps(realm, flow) : []);

  /** Chooses the next step by the present state. */
  async function goOn(step: Step, goal: Goal): Promise<Outcome> {
    const { realm, settings } = step;
    const { arrived, person, last, reviewed = false, proven } = goal;
    const provider = await providers.named(realm, arrived.alias);
    const tree = await stepsFor(realm, provider?.firstLoginFlow);
    const byCode = sameAddress(person.email, proven);
    const confirmed = byCode || (arrived.emailVerified && sameAddress(person.email, arrived.email));
    const mails = person.email !== '' && (await sends(realm, 'EMAIL'));
    const due = !confirmed && settings.registrationVerifyEmail && mails;
    const confirms = due || (person.email !== '' && !byCode && asksAlways(tree, 'confirm-email'));
    const owner = await ownerOf(realm, person.email);
    const fault = reviewed ? undefined : await faultOf(step, { arrived, person });
    // The owner of an existing account has a profile already.
    const reviews = !reviewed && !(owner && confirmed) && (fault !== undefined || asksAlways(tree, 'review-profile'));
    const connects = owner && provider?.linking === 'ask';
    const mayMail = connects && !due && (await reachOf(realm, owner.id)) !== undefined;
    const found = nextStep(tree, {
      done: [...(reviews ? [] : ['review-profile' as const]), ...(confirms ? [] : ['confirm-email' as const])],
      open: [
        ...['review-profile' as const, 'confirm-email' as const],
        ...(owner ? [] : ['create-account' as const]),
        ...(connects ? ['link-password' as const] : []),
        ...(mayMail ? ['link-email' as const] : []),
      ],
    });
    if (found?.step === 'review-profile')
      return { do: 'stage', stage: { is: 'review', arrived, person, last, proven } };
    // Even if the flow has no such step: a user must prove an address before the page tells whether an account has it.
    if (due || found?.step === 'confirm-email') {
      return mails ? askForCode(step, goal) : over(text('verify.nowhere'), 'provider-no-mail');
    }
    if (!found)
      return owner
        ? over(text('provider.notConnected'), connects ? 'provider-no-proof' : 'provider-linking-never')
        : over(text('register.closedLead'), 'provider-no-account');
    if (found.step === 'create-account')
      return fault ? over(text('register.taken'), 'provider-profile') : create(step, arrived, person, confirmed);
    if (!owner) throw new Error('an account is to be connected that is not there');
    const offers = [found.step, ...found.instead];
    const [password, mail] = [offers.includes('link-password'), offers.includes('link-email')];
    if (byCode && mail && (await openedBy(realm, person.email))) return { do: 'theirs', user: owner, arrived };
    return { do: 'stage', stage: { is: 'link', arrived, owner, password, mail } };
  }

  /** Sends a new code, unless one was sent just before: that one is still valid for its address. */
  async function askForCode(step: Step, { arrived, person, reviewed, last, values }: Goal): Promise<Outcome> {
    if (!last || codes.mayResend(last)) return sendCode(step, { arrived, person, reviewed });
    if (last.email !== person.email) return again('email', text('messageCode.sentJustNow'), values);
    return { do: 'stage', stage: { is: 'mail', arrived, person, reviewed, code: last } };
  }
  async function sendCode(
    step: Step,
    { arrived, person, reviewed }: Pick<Mail, 'arrived' | 'person' | 'reviewed'>,
  ): Promise<Outcome> {
    const { realm, site, by } = step;
    const mailing = { realm, origin: site.origin, by, userId: null, email: person.email, owner: undefined };
    const code = await transact(realm, (tx) => codes.send(tx, { ...mailing, context: contextOf(step, arrived) }));
    const stage: Mail = { is: 'mail', arrived, person, reviewed, code };
    return { do: 'stage', stage };
  }

  async function create(step: Step, arrived: Arrived, person: NewPerson, emailVerified: boolean): Promise<Outcome> {
    const { realm, by } = step;
    let linkId: string | undefined;
    const made = await accounts
      .create(realm, by.ipAddress ?? '', {
        person,
        phc: undefined,
        emailVerified,
        terms: undefined,
        registered: { identityProvider: arrived.alias },
        async beside(tx, them: By, user) {
          linkId = await links.make(tx, them, realm, user, arrived, { used: false });
          if (linkId === undefined) throw new LinkTaken();
          const { roles, groups } = arrived.provided;
          const ties = { properties: {}, attributes: {}, roles, groups };
          await applyProvided(tx, them, realm, user.id, ties, { from: arrived.alias, emailVerified });
        },
      })
      .catch((error: unknown) => {
        if (error instanceof LinkTaken) return undefined;
        throw error;
      });
    return made && linkId !== undefined
      ? { do: 'made', user: made.user, linkId, arrived }
      : over(text('register.taken'), 'provider-taken');
  }

  async function personIn(step: Step, before: NewPerson, form: Form): Promise<NewPerson> {
    const inputs = await accounts.inputs(step.realm);
    const email = form.email === undefined ? before.email : field(form, 'email');
    const asked = form.username === undefined ? before.username : field(form, 'username');
    const username = step.settings.registrationEmailAsUsername ? email : asked;
    return withValues(inputs, valuesIn(inputs, form), { ...before, username, email });
  }

  async function review(step: Step, { arrived, person: before, last, proven }: Review, form: Form): Promise<Outcome> {
    const person = await personIn(step, before, form);
    const values = Object.fromEntries(
      Object.entries(form).filter(([name]) => NAMES.has(name) || /^(firstName|lastName|attribute\.)/.test(name)),
    );
    const fault = await faultOf(step, { arrived, person });
    return fault
      ? again(fault.at, fault.message, values)
      : goOn(step, { arrived, person, last, values, proven, reviewed: true });
  }

  async function confirm(step: Step, stage: Mail, form: Form): Promise<Outcome> {
    const { arrived, person, reviewed, code } = stage;
    if (form.other !== undefined) return elsewhere(step, stage);
    if (form.resend !== undefined)
      return codes.mayResend(code) ? sendCode(step, stage) : again('code', text('messageCode.sentJustNow'));
    const opened = await openedBy(step.realm, person.email);
    return (
      (await faultOfCode(step, stage, code, form, opened)) ??
      goOn(step, { arrived, person, reviewed, proven: person.email })
    );
  }

  /** Lets the user enter another address, if the flow lets users choose it. */
  async function elsewhere({ realm }: Step, { arrived, person, code }: Mail): Promise<Outcome> {
    const provider = await providers.named(realm, arrived.alias);
    if (!hasFirstStep(await stepsFor(realm, provider?.firstLoginFlow), 'review-profile'))
      return over(text('register.taken'), 'provider-profile');
    return { do: 'stage', stage: { is: 'review', arrived, person, last: code } };
  }

  /**
   * The outcome for a wrong code; undefined: the code is right. The server stores the number of tries. If the code gives
   * access to an existing account, a wrong code counts as a wrong password; while that account is locked, the server
   * refuses the right code like a wrong one.
   */
  async function faultOfCode(
    step: Step,
    stage: Mail | Link,
    code: StepMemory,
    form: Form,
    opened: Link['owner'] | undefined,
  ): Promise<Outcome | undefined> {
    const proof = await codes.check(step.realm, code, form, contextOf(step, stage.arrived));
    if (proof.do === 'again' && proof.reason === '') return again('code', proof.message);
    const guess = { realm: step.realm, user: opened, by: step.by, byAnybody: true };
    if (await codes.countGuess(credentials, guess, proof)) return undefined;
    const message = proof.do === 'again' ? proof.message : text('messageCode.wrong');
    const tried = { ...code, tries: String(Number(code.tries ?? 0) + 1) };
    return { do: 'stage', stage: { ...stage, code: tried }, complaint: { field: 'code', message } };
  }

  async function prove(step: Step, stage: Link, form: Form): Promise<Outcome> {
    const { realm, by } = step;
    const { arrived, owner, code, password, mail } = stage;
    const last = code ?? stage.last;
    const wantsCode = form.mail !== undefined || form.resend !== undefined || (!password && !code);
    if (wantsCode && mail) {
      const email = await reachOf(realm, owner.id);
      if (email === undefined) return again('form', text('verify.nowhere'));
      if (last && !codes.mayResend(last))
        return code ? again('code', text('messageCode.sentJustNow')) : { do: 'stage', stage: { ...stage, code: last } };
      const mailing = { realm, origin: step.site.origin, by, userId: owner.id, email, owner: undefined };
      const sent = await transact(realm, (tx) => codes.send(tx, { ...mailing, context: contextOf(step, arrived) }));
      const next: Link = { ...stage, code: sent };
      return { do: 'stage', stage: next };
    }
    if (form.other !== undefined) return { do: 'stage', stage: { ...stage, code: undefined, last } };
    if (code && (form.password === undefined || !password)) return byCode(step, stage, code, form);
    if (!password) return again('form', text('verify.nowhere'));
    const checked = await credentials.checkPassword({
      realm,
      username: owner.username,
      password: form.password ?? '',
      by,
    });
    if (!checked.ok || checked.user.id !== owner.id)
      return again('password', text('provider.wrongPassword'), {}, checked.ok ? 'wrong' : checked.reason);
    // The link is permanent, so the last password that a directory accepted is not enough.
    if (checked.away) return again('password', text('password.away'), {}, 'away');
    return { do: 'theirs', user: checked.user, credentialId: checked.credentialId, arrived };
  }

  async function byCode(step: Step, stage: Link, code: StepMemory, form: Form): Promise<Outcome> {
    const { arrived, owner } = stage;
    const fault = await faultOfCode(step, stage, code, form, owner);
    if (fault) return fault;
    // Another user may have the address by now.
    if ((await reachOf(step.realm, owner.id)) !== code.email) return again('code', text('messageCode.wrong'));
    return { do: 'theirs', user: owner, arrived };
  }

  async function pageOf(step: Step, stage: Later, complaint: StepComplaint | undefined): Promise<StepPage> {
    const { realm, settings } = step;
    const title = await titleOf(realm, stage.arrived);
    if (stage.is === 'mail') return codePage({ email: stage.person.email, complaint });
    if (stage.is === 'review') {
      const inputs = await accounts.inputs(realm);
      return reviewPage({ title, settings, inputs, person: stage.person, complaint });
    }
    const { arrived, owner, code, password } = stage;
    if (code) return codePage({ email: shown(code.email ?? '', arrived), complaint });
    const mail = stage.mail && (await reachOf(realm, owner.id)) !== undefined;
    const them = arrived.name ?? arrived.subject;
    return linkPage({ title, them, email: arrived.email, password, mail, complaint });
  }

  return {
    begin(step: Step, provider: Provider, arrived: Arrived): Promise<Outcome> {
      const { username, email, firstName, lastName, provided } = arrived;
      const person: NewPerson = {
        username,
        email,
        firstName: firstName || null,
        lastName: lastName || null,
        attributes: withValuesOnly(provided.attributes),
      };
      return goOn(step, { arrived: { ...arrived, alias: provider.alias }, person });
    },

    go: (step: Step, stage: Later, form: Form): Promise<Outcome> => {
      if (stage.is === 'review') return review(step, stage, form);
      return stage.is === 'mail' ? confirm(step, stage, form) : prove(step, stage, form);
    },

    async page(step: Step, stage: Later, complaint: StepComplaint | undefined): Promise<StepPage> {
      return { ...(await pageOf(step, stage, complaint)), underWay: true };
    },
  };
}
export type FirstSignIns = ReturnType<typeof createFirstSignIns>;
type StepComplaint = { field: string; message: string; values?: Record<string, string> | undefined };

/** Masks the account's address unless the provider has given the same one. */
const shown = (email: string, { email: given }: Arrived): string =>
  email.toLowerCase() === given.toLowerCase() ? email : email.replace(/^(.).*@(.).*$/u, '$1***@$2***');

/** The identity was linked to another user in the meantime. */
class LinkTaken extends Error {}

const withValuesOnly = (attributes: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, values]) => (values.length > 0 ? [[name, [...values]]] : [])),
  );
