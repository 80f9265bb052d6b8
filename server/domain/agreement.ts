// A user's consent for one client: the names of all scopes, resources and claims that it covers. Pure. OIDC Core §3.1.2.4.
import { ACCOUNT_SCOPE } from './scopes.ts';

export interface Agreement {
  scopes: readonly string[];
  /** Resources at which the client may use tokens for the user. */
  resources: readonly string[];
  /** Claims about the user from the client's own mappers. */
  claims: readonly string[];
}

const among = (all: readonly string[], some: readonly string[]): boolean => some.every((one) => all.includes(one));

/** Whether the user must agree: where the client says so, and always where the application would act in the user's account. */
export const needsConsent = (
  { consentRequired }: { consentRequired: boolean },
  { scopes }: Pick<Agreement, 'scopes'>,
): boolean => consentRequired || scopes.includes(ACCOUNT_SCOPE);

/**
 * Whether the consent covers the request. Without any consent even an empty request isn't covered: it would still identify the user
 * to the client.
 */
export const agreementCovers = (agreed: Agreement | undefined, asked: Agreement): boolean =>
  agreed !== undefined &&
  among(agreed.scopes, asked.scopes) &&
  among(agreed.resources, asked.resources) &&
  among(agreed.claims, asked.claims);
