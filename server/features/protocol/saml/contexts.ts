// Levels of assurance as SAML's authentication contexts: the request's demand, and the response's statement. Pure.
// SAML 2.0 Core §3.3.2.2.1; decisions "SAML".

const classes = (name: string) => `urn:oasis:names:tc:SAML:2.0:ac:classes:${name}`;
const UNSPECIFIED = classes('unspecified');
const PASSWORD = classes('PasswordProtectedTransport');
const SEVERAL_FACTORS = 'https://refeds.org/profile/mfa';

/** The level that a sign-in needs to be of the class; others are unknown here. */
const levels: Readonly<Record<string, number>> = {
  [UNSPECIFIED]: 0,
  [classes('Password')]: 1,
  [PASSWORD]: 1,
  'https://refeds.org/profile/sfa': 1,
  [SEVERAL_FACTORS]: 2,
  // The context that Microsoft's products request.
  'http://schemas.microsoft.com/claims/multipleauthn': 2,
};

export interface RequestedContext {
  comparison: string;
  classes: readonly string[];
}
/** The level that a sign-in has to reach, and the classes that the response may name; none: the sign-in's own. */
export interface Wanted {
  level: number;
  tell: readonly string[];
}

/** @returns undefined: nothing that is asked for can be had */
export function wantedBy({ comparison, classes: asked }: RequestedContext): Wanted | undefined {
  const known = asked.filter((name) => levels[name] !== undefined);
  const least = Math.min(...known.map((name) => levels[name] ?? 0));
  if (known.length === 0) return undefined;
  if (comparison === 'exact') return { level: least, tell: known };
  if (comparison === 'minimum') return { level: least, tell: [] };
  // "Maximum" excludes stronger ones. A stronger session has proven the weaker class too.
  if (comparison === 'maximum') return { level: 0, tell: known };
  const better = Math.max(...known.map((name) => levels[name] ?? 0)) + 1;
  return comparison === 'better' && better <= 2 ? { level: better, tell: [] } : undefined;
}

/** The class that a response names. */
export function classOf(level: number, amr: readonly string[], tell: readonly string[]): string {
  const told = tell.find((name) => (levels[name] ?? Infinity) <= level);
  if (told !== undefined) return told;
  if (level >= 2) return SEVERAL_FACTORS;
  return amr.includes('pwd') ? PASSWORD : UNSPECIFIED;
}
