// The paths between the steps of a sign-on.

/** The path to which a sign-in returns: routes.ts serves it. */
export const resumePath = (realm: string): string => `/realms/${realm}/saml/idp/sso/resume`;
/** The address of the consent page's form. */
export const consentPath = (realm: string): string => `/realms/${realm}/saml/idp/consent`;
/** The path on which a verified request continues, or starts again. @param kept the sealed request */
export const keptPath = (realm: string, kept: string): string => `/realms/${realm}/saml/idp/sso?request=${kept}`;
