// Levels of assurance as SAML's authentication contexts: the request's demand, and the response's statement. Pure. SAML
// 2.0 Core §3.3.2.2.1; decisions "SAML".

const classes = (name: string) => `urn:oasis:names:tc:SAML:2.0:ac:classes:${name}`;
const UNSPECIFIED = classes('unspecified');
const PASSWORD = classes('PasswordProtectedTransport');
const SEVERAL_FACTORS = 'https://refeds.org/profile/mfa';

/** The level that a sign-in needs for the class; other classes are unknown here. */
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
/**
 * The level that a sign-in must reach, and the classes that the response may state; none: the class of the sign-in
 * itself.
 */
export interface Wanted {
  level: number;
  tell: readonly string[];
}

/** @returns undefined: this server can meet no requested class */
export function wantedBy({ comparison, classes: asked }: RequestedContext): Wanted | undefined {
  const known = asked.filter((name) => levels[name] !== undefined);
  const least = Math.min(...known.map((name) => levels[name] ?? 0));
  if (known.length === 0) return undefined;
  if (comparison === 'exact') return { level: least, tell: known };
  if (comparison === 'minimum') return { level: least, tell: [] };
  // "Maximum" excludes stronger classes. A stronger session has also proven the weaker class, so the response states
  // that one.
  if (comparison === 'maximum') return { level: 0, tell: known };
  const better = Math.max(...known.map((name) => levels[name] ?? 0)) + 1;
  return comparison === 'better' && better <= 2 ? { level: better, tell: [] } : undefined;
}

/** The class that a response states. */
export function classOf(level: number, amr: readonly string[], tell: readonly string[]): string {
  const told = tell.find((name) => (levels[name] ?? Infinity) <= level);
  if (told !== undefined) return told;
  if (level >= 2) return SEVERAL_FACTORS;
  return amr.includes('pwd') ? PASSWORD : UNSPECIFIED;
}
