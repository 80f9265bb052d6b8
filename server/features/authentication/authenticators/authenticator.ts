// Owns: what an authenticator is: a record that begins and verifies its own step, or a condition that holds or doesn't.
// Does not own: the order of steps (features/authentication/sign-in/engine.ts), pages' frame and routes (features/authentication/sign-in).
// Implements: specification 2.2; design "Extension is an array of small records".

import type { By } from '../../../contract/events.ts';
import type { Phrase } from '../../../contract/phrases.ts';
import type { RiskReason } from '../../../contract/risk.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { RequiredAction } from '../../../contract/users.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Person } from '../../../domain/person.ts';
import type { Proven } from '../../../domain/proof.ts';
import type { Site } from '../../../domain/site.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { Html } from '../../../http/html.ts';
import type { Foreign } from '../../../http/pages.ts';
import type { AuthenticatorEntry } from '../../configuration/flows/tree.ts';
import type { KnownUser } from '../../people/credentials/service.ts';

/** Where a step stands: all that an authenticator may look at. */
export interface Step {
  realm: string;
  settings: RealmSettingsDto;
  /** Nobody is known for certain while a sign-in is under way. */
  by: By;
  /** The same of who has proven who they are. */
  byThem: By;
  /** Who it is, once somebody found out. */
  user: KnownUser | undefined;
  /** What the person has proven before this step; what is written for them must still rest on it. */
  proven: Proven | undefined;
  config: Record<string, unknown>;
  /** The step is to set the authenticator up, not to use it. */
  enrol: boolean;
  /** Nothing asks for it but the person. */
  wanted: boolean;
  /** What the application thinks the person's name is. */
  loginHint: string;
  /** By which identity provider it wants them to come. */
  providerHint: string | undefined;
  /** Whoever has a session is asked to prove it anew. */
  anew: boolean;
  /** What {@link PageStep.begin} kept for this step, between two requests. */
  kept: Record<string, string>;
  /** The session that goes on, if one does. */
  sessionId: string | undefined;
  /** What is signed in to, and with what, as a device shows it. */
  application: string | undefined;
  userAgent: string | undefined;
  /** Of the execution. */
  id: string;
  /** The sign-in's number among the browser's: addresses about it say it. */
  tab: number;
  /** Where the browser shows this page. */
  site: Site;
  /** What a device signs here: another one in each sign-in, and at each new beginning of it. */
  challenge: string;
}

export type Form = Readonly<Record<string, string>>;

/** What a program sends in one request. */
export interface Sent {
  username?: string | undefined;
  password?: string | undefined;
  otp?: string | undefined;
}

/** The inside of a step's form; the frame adds the token against forgery. */
export interface StepPage {
  title: string;
  body: Html;
  /** Absent: there is nothing to send. */
  submit?: string;
  /** Other buttons of its form, behind the one that Enter presses: the first one. */
  below?: Html;
  /** The page's one script: its text. */
  script?: string;
  /** What it loads from elsewhere. */
  foreign?: Foreign;
  /** It waits for something that is done elsewhere, and asks so often whether there is another page now. */
  refreshSeconds?: number;
  /** What it waited for is there: it goes on without a click. */
  ready?: boolean;
  /** Where its form may lead beside this server, as a source of the page's policy. */
  formAction?: readonly string[];
  keep?: StepMemory;
  /** What it waits for finds the sign-in by this, as `kept` says it (StepVerdict). */
  address?: string;
  /** It shows a secret or asks for a new one: the realm's own CSS stays away. */
  plain?: boolean;
  /** Somebody unknown has gone some way already: beside it there is no account to be made, only the way back to the beginning. */
  underWay?: boolean;
}

/** What went wrong with the last try, in words for the person. */
export interface Complaint {
  field: string;
  message: string;
  /** Text fields as they were filled in; never a password or code. */
  values?: Record<string, string> | undefined;
}

/** What can be tried beside the step that is asked, on its page. */
export type Beside =
  | {
      body: Html;
      script: string;
      /** Of the button that leads to it. */
      words: string;
    }
  /** Each leads away by itself. */
  | { ways: readonly { words: string; path: string }[] };

export interface Passed {
  do: 'passed';
  /** What it was proven by; a message to an address is no credential. */
  credentialId?: string;
  user?: KnownUser;
  /** What was read of the person on the way, so that it isn't read again. */
  standing?: PersonStanding;
  rememberMe?: boolean;
  /** What the audit log has to say of how it was. */
  note?: string | undefined;
  /** RFC 8176, where it isn't always the same. */
  amr?: string[];
  /** What it was proven by, where that isn't what was asked for. */
  by?: { authenticatorId: string; config: Record<string, unknown> };
  /** It counts beside another proof, and says by itself not who it is. */
  beside?: true;
  /** The link to an identity provider that it was proven by. */
  identityId?: string;
  /** A flow that has to be done, too, before this sign-in ends. */
  firstFlow?: string;
  /** What {@link Method.atEnd} is given. */
  atEnd?: StepMemory;
  /** What was found that speaks for a risk. */
  signals?: RiskReason[];
}

/** What a step keeps between two requests. */
export type StepMemory = Record<string, string>;

export type StepVerdict =
  | Passed
  /** What was required is done; it proves nothing. `renewed`: one credential has taken another's place. */
  | { do: 'done'; renewed?: { old: string; now: string } | undefined }
  /** `reason` is for the audit log alone; `leaves`: what they had chosen leads nowhere. */
  | {
      do: 'again';
      complaint: Complaint;
      reason: string;
      user?: KnownUser | undefined;
      keep?: StepMemory;
      leaves?: true;
    }
  /** The person says that this sign-in is somebody else's: nothing leads on from it. */
  | { do: 'ended'; because: 'denied' }
  /** It goes on with what is kept from here; `leadsTo`: elsewhere, from where the browser comes back. */
  | { do: 'kept'; keep: StepMemory; address?: string; leadsTo?: string };

/** What somebody does on a page of the sign-in. */
export interface PageStep {
  begin(step: Step, complaint: Complaint | undefined): Promise<StepPage>;
  /** It may throw that what the person has proven holds no more (`isWithdrawn`, domain/proof.ts). */
  verify(step: Step, form: Form): Promise<StepVerdict>;
  /** Whether the form could be a guess, so that tries are counted; left out: it could. */
  guesses?(step: Step, form: Form): boolean;
}

/** What is required of people who have proven who they are, where it sets up no authenticator. */
export interface RequiredStep extends PageStep {
  action: RequiredAction;
}

/** What somebody holds who has set a method up. */
export interface CredentialKind {
  type: string;
  name: Phrase;
  /** What an administrator asks people to do who are to set it up; absent: it isn't set up within a sign-in. */
  setUpBy?: RequiredAction;
}

export interface Method extends AuthenticatorEntry, PageStep {
  category: 'METHOD';
  /** RFC 8176, as sessions and tokens name it; where that depends, what it is at least where it stands by itself. */
  amr: readonly string[];
  /** It helps whoever has lost their second factor, and is none that makes others necessary. */
  standsIn?: boolean;
  /** Absent: they hold nothing for it but an address that reaches them. */
  credential?: CredentialKind;
  /** Whether somebody can use it as they are; left out: where they hold its credential. */
  availableTo?(person: Pick<PersonStanding, 'types' | 'reach'>): boolean;
  /** What somebody who sends all they have at once answers it with; absent: it can't be done without a page. */
  answers?(sent: Sent): Form | undefined;
  /** Offers it on the page of another one that it is an alternative to. */
  beside?(step: Step): Promise<Beside>;
  /** A flow without it offers it beside that authenticator, and takes it for that. */
  standsFor?: string;
  /** What proves it comes from elsewhere: its form says nothing but that somebody has the sign-in's cookie. */
  provenElsewhere?: true;
  /** What it writes when a sign-in ends in which it was passed, in that transaction. */
  atEnd?(tx: Tx, end: SignInEnd): Promise<void>;
  /** Writes what {@link atEnd} will change of the person, in a transaction that is undone: conditions see them as they will be. */
  foresee?(tx: Tx, end: Omit<SignInEnd, 'sessionId'>): Promise<void>;
}

/** A sign-in that has come to its end. */
export interface SignInEnd {
  realm: string;
  by: By;
  user: KnownUser;
  sessionId: string;
  kept: StepMemory;
}

/** What only conditions look at, read where a flow has such a one. */
export interface Circumstances {
  /** The client that the sign-in is for. */
  clientId: string | undefined;
  /** What the person is; undefined: nobody is known, or no condition asks. */
  person: Pick<Person, 'attributes' | 'groups' | 'roles'> | undefined;
  /** undefined: no browser asks, as where a token is refreshed; then nothing holds that is about one. */
  browser: { address: string; known: boolean | undefined } | undefined;
}

/** What a condition looks at. */
export interface ConditionFacts extends Circumstances {
  /** Whether the person has a second factor. */
  secondFactor: boolean;
  riskAction: 'allow' | 'step_up' | 'deny' | undefined;
  riskBand: 'low' | 'medium' | 'high' | undefined;
  /** The level that is asked for. */
  requiredLevel: number;
}
export interface Condition extends AuthenticatorEntry {
  category: 'CONDITION';
  forbidsEnrolment?: boolean;
  /** What has to be read for it. */
  needs?: 'person' | 'device';
  holds(facts: ConditionFacts, config: Record<string, unknown>): boolean;
}
/** What somebody's first sign-in by an identity provider goes through (features/authentication/brokering). */
export interface FirstStep extends AuthenticatorEntry {
  category: 'FIRST_SIGN_IN';
  firstSignIn: 'prepares' | 'makes' | 'connects';
}
export type AuthenticatorRecord = Method | Condition | FirstStep;
