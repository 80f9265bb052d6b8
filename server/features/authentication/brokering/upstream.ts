// What an identity provider is to the sign-in, whatever it speaks: the browser is sent there, and comes back with somebody.
import type { ProviderToken } from './provider-tokens.ts';
import type { Provider } from './providers.ts';

/** How somebody is sent there. */
export interface Departure {
  realm: string;
  /** Where they come back. */
  callback: string;
  /** What they bring back: nobody else knows it. */
  state: string;
  loginHint: string;
  /** They are to prove it there anew. */
  anew: boolean;
}
/** What has to be known when they come back. */
export type Luggage = Readonly<Record<string, string>>;
export interface Return extends Pick<Departure, 'realm' | 'callback' | 'anew'> {
  luggage: Luggage;
  /** When they were sent there. */
  leftAt: Date;
  /** The parameters that they came back with. */
  answer: Readonly<Record<string, string>>;
}

/** Who somebody is there. */
export interface Identity {
  /** Whose the subject is. */
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
  /** What it began there. */
  session?: {
    sid?: string | undefined;
    idToken?: string | undefined;
    /** How a SAML provider says the name. */
    nameId?: Readonly<Record<string, string>> | undefined;
    /** Where the provider's are kept. */
    token?: ProviderToken | undefined;
  };
}

export interface Upstream {
  depart(provider: Provider, departure: Departure): Promise<{ url: string; luggage: Luggage }>;
  /** @throws UpstreamError */
  arrive(provider: Provider, back: Return): Promise<Identity>;
}

/** The provider can't be reached, or says what can't be believed. `reason` is for the audit log. */
export class UpstreamError extends Error {
  readonly reason: string;
  constructor(reason: string, options?: ErrorOptions) {
    super(`the identity provider: ${reason}`, options);
    this.reason = reason;
  }
}
