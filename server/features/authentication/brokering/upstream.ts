// The interface of identity providers to the sign-in, independent of their protocol: the browser goes there, and returns
// with an identity.
import type { ProviderToken } from './provider-tokens.ts';
import type { Provider } from './providers.ts';

/** How the browser is sent to the provider. */
export interface Departure {
  realm: string;
  /** The address to return to. */
  callback: string;
  /** A secret that the browser brings back. */
  state: string;
  loginHint: string;
  /** The user must prove at the provider again who they are. */
  anew: boolean;
}
/** The values that are needed when the browser returns. */
export type Luggage = Readonly<Record<string, string>>;
export interface Return extends Pick<Departure, 'realm' | 'callback' | 'anew'> {
  luggage: Luggage;
  /** When the browser was sent to the provider. */
  leftAt: Date;
  /** The parameters with which the browser returned. */
  answer: Readonly<Record<string, string>>;
}

/** The user's identity at the provider. */
export interface Identity {
  /** The issuer of the subject. */
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
  /** The session at the provider. */
  session?: {
    sid?: string | undefined;
    idToken?: string | undefined;
    /** The attributes of a SAML provider's NameID. */
    nameId?: Readonly<Record<string, string>> | undefined;
    /** The token to store; undefined: the provider's tokens are not stored. */
    token?: ProviderToken | undefined;
  };
}

export interface Upstream {
  depart(provider: Provider, departure: Departure): Promise<{ url: string; luggage: Luggage }>;
  /** @throws UpstreamError */
  arrive(provider: Provider, back: Return): Promise<Identity>;
}

/** The provider is unreachable, or its answer is not valid. `reason` is for the audit log. */
export class UpstreamError extends Error {
  readonly reason: string;
  constructor(reason: string, options?: ErrorOptions) {
    super(`the identity provider: ${reason}`, options);
    this.reason = reason;
  }
}
