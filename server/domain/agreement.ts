// What a person agrees to, or has agreed to, for one client: by name, in all its parts. Pure. OIDC Core §3.1.2.4.
import { ACCOUNT_SCOPE } from './scopes.ts';

export interface Agreement {
  scopes: readonly string[];
  /** Where tokens may be used for the person. */
  resources: readonly string[];
  /** What the client's own mappers say of the person. */
  claims: readonly string[];
}

const among = (all: readonly string[], some: readonly string[]): boolean => some.every((one) => all.includes(one));

/** Whether the user must agree: where the client says so, and always where the application would act in the user's account. */
export const needsConsent = (
  { consentRequired }: { consentRequired: boolean },
  { scopes }: Pick<Agreement, 'scopes'>,
): boolean => consentRequired || scopes.includes(ACCOUNT_SCOPE);

/** Who never agreed has not agreed to nothing either: even that names the person to the client. */
export const agreementCovers = (agreed: Agreement | undefined, asked: Agreement): boolean =>
  agreed !== undefined &&
  among(agreed.scopes, asked.scopes) &&
  among(agreed.resources, asked.resources) &&
  among(agreed.claims, asked.claims);
