// Owns: the types of authenticators: a method that begins and verifies its own step, or a condition that is true or false.
// Does not own: the order of steps (features/authentication/sign-in/engine.ts), pages' frame and routes (features/authentication/sign-in).
// Implements: specification 2.2; design "Extension is an array of small records".

import type { By } from '../../../contract/events.ts';
import type { Phrase } from '../../../contract/phrases.ts';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { RiskReason } from '../../../contract/risk.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Person } from '../../../domain/person.ts';
import type { Proven } from '../../../domain/proof.ts';
import type { Site } from '../../../domain/site.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { FieldFault } from '../../../http/field-errors.ts';
import type { Html } from '../../../http/html.ts';
import type { Foreign } from '../../../http/pages.ts';
import type { ProviderWay } from '../../../http/provider-ways.ts';
import type { AuthenticatorEntry } from '../../configuration/flows/tree.ts';
import type { KnownUser } from '../../people/credentials/service.ts';

/** The state of a step: everything that an authenticator may use. */
export interface Step {
  realm: string;
  settings: RealmSettingsDto;
  /** The author of events before the user has proven who they are: no user, only the address. */
  by: By;
  /** The user as the author of events, once they have proven who they are. */
  byThem: By;
  /** The user of the sign-in; undefined: not known yet. */
  user: KnownUser | undefined;
  /** The user's proofs before this step. Anything written for the user must still rest on them. */
  proven: Proven | undefined;
  config: Record<string, unknown>;
  /** The step sets the authenticator up instead of using it. */
  enrol: boolean;
  /** Only the user asked for the step; neither the flow nor a required action needs it. */
  wanted: boolean;
  /** The user's name, as far as the application knows it. */
  loginHint: string;
  /** The identity provider that the application asks for. */
  providerHint: string | undefined;
  /** A user with a session must prove again who they are. */
  anew: boolean;
  /** The values that {@link PageStep.begin} kept for this step between two requests. */
  kept: Record<string, string>;
  /** The session that the sign-in renews; undefined: it begins a new one. */
  sessionId: string | undefined;
  /** The names of the application and the browser, for display on the user's device. */
  application: string | undefined;
  userAgent: string | undefined;
  /** The id of the execution. */
  id: string;
  /** The number of the sign-in in this browser, which its addresses contain. */
  tab: number;
  /** The origin at which the browser shows the page. */
  site: Site;
  /** The value that devices sign. Each sign-in has another one, and each restart of it. */
  challenge: string;
}

export type Form = Readonly<Record<string, string>>;

/** The credentials that a program sends in one request. */
export interface Sent {
  username?: string | undefined;
  password?: string | undefined;
  otp?: string | undefined;
}

/** The contents of a step's form. The frame adds the token against forgery. */
export interface StepPage {
  title: string;
  body: Html;
  /** The label of the submit button; absent: the form has none. */
  submit?: string;
  /** Further buttons of the form. They stand behind the first one, which Enter presses. */
  below?: Html;
  /** The text of the page's one script. */
  script?: string;
  /** Resources that the page loads from elsewhere. */
  foreign?: Foreign;
  /** The page waits for an action elsewhere, and checks at this interval whether there is another page now. */
  refreshSeconds?: number;
  /** The awaited action is done: the page continues without a click. */
  ready?: boolean;
  /** Further targets of the page's form, as sources of its policy. */
  formAction?: readonly string[];
  keep?: StepMemory;
  /** The digest by which the awaited link or device finds the sign-in, as in StepVerdict's `kept`. */
  address?: string;
  /** The page shows a secret or asks for a new one, so it loads no CSS of the realm. */
  plain?: boolean;
  /** An unknown user is in the middle of this step: the page offers no registration, only the way back to the start. */
  underWay?: boolean;
}

/** Why the last try failed, in words for the user. */
export interface Complaint {
  field: string;
  message: string;
  /** The text fields as the user filled them in; never a password or a code. */
  values?: Record<string, string> | undefined;
  /** Faults of further fields of the same form. */
  others?: FieldFault[] | undefined;
}

/** Another method that the page of a step offers. */
export type Beside =
  | {
      body: Html;
      script: string;
      /** The label of the button that leads to it. */
      words: string;
    }
  /** Each way has a link of its own. */
  | { ways: readonly ProviderWay[] };

export interface Passed {
  do: 'passed';
  /** The credential that was used; absent if a message to an address was the proof. */
  credentialId?: string;
  user?: KnownUser;
  /** The user's standing, if the method has read it already. */
  standing?: PersonStanding;
  rememberMe?: boolean;
  /** A remark for the audit log about how the proof was made. */
  note?: string | undefined;
  /** RFC 8176 values, if they differ from the method's usual ones. */
  amr?: string[];
  /** The authenticator that was proven, if it isn't the one that was asked for. */
  by?: { authenticatorId: string; config: Record<string, unknown> };
  /** The proof counts beside another one, but doesn't identify the user by itself. */
  beside?: true;
  /** The link to the identity provider that proved the user. */
  identityId?: string;
  /** A further flow that the user must pass before this sign-in ends. */
  firstFlow?: string;
  /** The values for {@link Method.atEnd}. */
  atEnd?: StepMemory;
  /** Findings that raise the risk. */
  signals?: RiskReason[];
}

/** The values that a step keeps between two requests. */
export type StepMemory = Record<string, string>;

export type StepVerdict =
  | Passed
  /** The user completed the required action, which adds no factor. `renewed`: one credential replaced another. */
  | { do: 'done'; renewed?: { old: string; now: string } | undefined }
  /** The step repeats. `reason` appears only in the audit log; `leaves`: the method that the user chose can't be used now. */
  | {
      do: 'again';
      complaint: Complaint;
      reason: string;
      user?: KnownUser | undefined;
      keep?: StepMemory;
      leaves?: true;
    }
  /** The user says that another person started this sign-in. It can't continue. */
  | { do: 'ended'; because: 'denied' }
  /** The step continues with these values; `leadsTo`: at another site, which sends the browser back. */
  | { do: 'kept'; keep: StepMemory; address?: string; leadsTo?: string };

/** A step of the sign-in with a page. */
export interface PageStep {
  begin(step: Step, complaint: Complaint | undefined): Promise<StepPage>;
  /** Can throw an error for which `isWithdrawn` (domain/proof.ts) is true: an earlier proof no longer holds. */
  verify(step: Step, form: Form): Promise<StepVerdict>;
  /** Whether the form could be a guess, so that the try is counted; absent: always. */
  guesses?(step: Step, form: Form): boolean;
}

/** A required action for signed-in users that sets up no authenticator. */
export interface RequiredStep extends PageStep {
  action: RequiredAction;
}

/** The credential of a user with this method. */
export interface CredentialKind {
  type: string;
  name: Phrase;
  /** The required action by which an administrator asks users to set it up; absent: it can't be set up in a sign-in. */
  setUpBy?: RequiredAction;
}

export interface Method extends AuthenticatorEntry, PageStep {
  category: 'METHOD';
  /** RFC 8176 values for sessions and tokens. If they vary, the least that the method proves by itself. */
  amr: readonly string[];
  /** The method replaces a lost second factor, and doesn't make another factor necessary. */
  standsIn?: boolean;
  /** Absent: the method needs no credential, only an address of the user. */
  credential?: CredentialKind;
  /** Whether a user can use the method; absent: users who hold its credential can. */
  availableTo?(person: Pick<PersonStanding, 'types' | 'reach'>): boolean;
  /** The form that answers the step with credentials sent in one request; absent: the method needs a page. */
  answers?(sent: Sent): Form | undefined;
  /** Offers the method on the page of another one to which it is an alternative. */
  beside?(step: Step, complaint: Complaint | undefined): Promise<Beside>;
  /** A flow without this method still offers it beside that authenticator, and counts it as that one. */
  standsFor?: string;
  /** The proof arrives elsewhere: the form shows only that the browser has the sign-in's cookie. */
  provenElsewhere?: true;
  /** Writes the method's results when a sign-in with it ends, in the transaction of that end. */
  atEnd?(tx: Tx, end: SignInEnd): Promise<void>;
  /**
   * Writes the changes of {@link atEnd} in a transaction that is rolled back, so that conditions can judge the user as they
   * will be.
   */
  foresee?(tx: Tx, end: Omit<SignInEnd, 'sessionId'>): Promise<void>;
}

/** A sign-in that ends. */
export interface SignInEnd {
  realm: string;
  by: By;
  user: KnownUser;
  sessionId: string;
  kept: StepMemory;
}

/** Facts that only conditions use. They are read if the flow has such a condition. */
export interface Circumstances {
  /** The client of the sign-in. */
  clientId: string | undefined;
  /** The user's attributes, groups and roles; undefined: the user is unknown, or no condition needs them. */
  person: Pick<Person, 'attributes' | 'groups' | 'roles'> | undefined;
  /** undefined: there is no browser, for example when a token is refreshed. Then conditions about browsers don't hold. */
  browser: { address: string; known: boolean | undefined } | undefined;
}

/** The facts that a condition can use. */
export interface ConditionFacts extends Circumstances {
  /** Whether the user has a second factor. */
  secondFactor: boolean;
  riskAction: 'allow' | 'step_up' | 'deny' | undefined;
  riskBand: 'low' | 'medium' | 'high' | undefined;
  /** The requested level of assurance. */
  requiredLevel: number;
}
export interface Condition extends AuthenticatorEntry {
  category: 'CONDITION';
  forbidsEnrolment?: boolean;
  /** The data that must be read for it. */
  needs?: 'person' | 'device';
  holds(facts: ConditionFacts, config: Record<string, unknown>): boolean;
}
/** A step of a user's first sign-in with an identity provider (features/authentication/brokering). */
export interface FirstStep extends AuthenticatorEntry {
  category: 'FIRST_SIGN_IN';
  firstSignIn: 'prepares' | 'makes' | 'connects';
}
export type AuthenticatorRecord = Method | Condition | FirstStep;
