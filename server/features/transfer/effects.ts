// What a plan does to who uses the realm now, in words: redirect URIs, clients, roles that go, lifetimes that get shorter.
// Pure; how many that touches is consequences.ts's to count. Decisions "Import, export, plan".
import { strings } from '../../resource/items.ts';
import type { PlannedChange } from '../../resource/part.ts';

/** Who is touched: the people of whatever is named, or everybody. */
export interface Reach {
  clients?: readonly string[];
  /** Clients that have it. */
  scope?: string;
  /** Clients whose people sign in by it. */
  flow?: string;
  role?: { client: string | null; name: string };
  samlClient?: string;
  /** By its alias, whoever has an account there. */
  identityProvider?: string;
  directory?: string;
  /** By its path, and those below it. */
  group?: string;
  organization?: string;
  everybody?: true;
}

export interface Effect {
  kind: string;
  key: string;
  message: string;
  /** Somebody who gets in now will not. */
  locksOut: boolean;
  reach: Reach;
}
type Said = Pick<Effect, 'message' | 'locksOut'>;

const stops = (message: string): Said => ({ message, locksOut: true });
const changes = (message: string): Said => ({ message, locksOut: false });

const shorter = (from: unknown, to: unknown): boolean =>
  typeof to === 'number' && (typeof from !== 'number' || to < from);
const without = (from: unknown, to: unknown): string[] => {
  const left = new Set(strings(to));
  return strings(from).filter((one) => !left.has(one));
};
const NAMED = 3;
const some = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');

const seconds = (what: string, from: unknown, to: unknown): Said[] =>
  shorter(from, to) ? [changes(`${what} end sooner: after ${to} seconds`)] : [];

type Field = (from: unknown, to: unknown) => Said[];
/** A demand that those who don't meet it fail by. */
const demand =
  (what: string): Field =>
  (from, to) =>
    to === true && from !== true ? [stops(`refuses ${what}`)] : [];

const lose: Field = (from, to) => {
  const gone = without(from, to);
  return gone.length > 0 ? [stops(`no longer gives ${some(gone)}`)] : [];
};
const urls = (from: unknown): string[] =>
  Array.isArray(from) ? from.map((one) => String(Object(one).url ?? Object(one).location)) : [];

const ACTIONS = ['allow', 'step_up', 'deny'];
const stricter = (band: string, from: unknown, to: unknown): Said[] => {
  if (ACTIONS.indexOf(String(to)) <= ACTIONS.indexOf(String(from))) return [];
  return to === 'deny'
    ? [stops(`refuses sign-ins of ${band} risk`)]
    : [changes(`asks more of whoever signs in at ${band} risk`)];
};

const ofClient: Readonly<Record<string, Field>> = {
  enabled: (_, to) => (to === false ? [stops('gets no tokens any more, and nobody signs in to it')] : []),
  redirectUris: (from, to) => {
    const gone = without(from, to);
    return gone.length > 0 ? [stops(`nobody comes back to ${some(gone)} any more`)] : [];
  },
  grantTypes: (from, to) => {
    const gone = without(from, to);
    return gone.length > 0 ? [stops(`gets no tokens by ${some(gone)} any more`)] : [];
  },
  defaultClientScopes: (from, to) => {
    const gone = without(from, to);
    return gone.length > 0 ? [changes(`its tokens lose ${some(gone)}`)] : [];
  },
  optionalClientScopes: (from, to) => {
    const gone = without(from, to);
    return gone.length > 0 ? [changes(`its tokens can’t be asked for ${some(gone)} any more`)] : [];
  },
  postLogoutRedirectUris: (from, to) => {
    const gone = without(from, to);
    return gone.length > 0 ? [changes(`nobody comes back to ${some(gone)} after signing out`)] : [];
  },
  jwks: () => [stops('has to prove itself by other keys')],
  jwksUri: () => [stops('has to prove itself by the keys of another address')],
  tokenEndpointAuthMethod: (_, to) => [stops(`has to prove itself by ${String(to)}`)],
  requirePkce: demand('sign-ins without PKCE'),
  requirePushedAuthorizationRequests: demand('sign-ins that are not pushed first'),
  dpopBoundAccessTokens: demand('token requests that prove no key'),
  consentRequired: (_, to) => (to === true ? [changes('people are asked for their consent')] : []),
  flowOverride: (_, to) => [
    changes(`people sign in by ${to === null ? 'the realm’s flow' : `the flow ${String(to)}`}`),
  ],
  accessTokenTtlSeconds: (from, to) => seconds('access tokens', from, to),
  refreshTokenTtlSeconds: (from, to) => seconds('refresh tokens', from, to),
};

const ofSettings: Readonly<Record<string, Field>> = {
  issuer: () => [stops('tokens have another issuer: applications refuse them until they know it')],
  subjectStrategy: () => [stops('applications know people by other names')],
  requirePushedAuthorizationRequests: demand('sign-ins that are not pushed first'),
  registrationEnabled: (_, to) => (to === false ? [changes('nobody makes an account of their own any more')] : []),
  passwordMaxAgeDays: (from, to) =>
    to !== 0 && (from === 0 || shorter(from, to))
      ? [changes(`who has a password for more than ${String(to)} days sets a new one at the next sign-in`)]
      : [],
  lockoutEnabled: (_, to) => (to === true ? [changes('people are locked out after failed sign-ins')] : []),
  maxLoginFailures: (from, to) =>
    shorter(from, to) ? [changes(`people are locked out after ${String(to)} failures`)] : [],
  riskHighAction: (from, to) => stricter('high', from, to),
  riskMediumAction: (from, to) => stricter('medium', from, to),
  requireMfa: (_, to) => (to === true ? [changes('who has no second factor sets one up at the next sign-in')] : []),
  browserFlow: (_, to) => [changes(`people sign in by the flow ${String(to)}`)],
  accessTokenTtlSeconds: (from, to) => seconds('access tokens', from, to),
  refreshTokenTtlSeconds: (from, to) => seconds('refresh tokens', from, to),
  ssoSessionIdleTimeoutSeconds: (from, to) => seconds('sessions that nobody uses', from, to),
  ssoSessionMaxLifetimeSeconds: (from, to) => seconds('sessions', from, to),
  rememberMeLifetimeSeconds: (from, to) => seconds('remembered sessions', from, to),
  maxConcurrentSessions: (from, to) =>
    to !== 0 && (from === 0 || shorter(from, to))
      ? [changes(`of more than ${String(to)} sessions of a person the oldest end`)]
      : [],
};

const ofSamlClient: Readonly<Record<string, Field>> = {
  enabled: (_, to) => (to === false ? [stops('nobody signs in to it any more')] : []),
  assertionConsumerServices: (from, to) => {
    const gone = without(urls(from), urls(to));
    return gone.length > 0 ? [stops(`nobody comes back to ${some(gone)} any more`)] : [];
  },
  nameIdFormat: () => [stops('it knows people by other names')],
  signingCertificates: (from, to) =>
    without(from, to).length > 0 ? [stops('requests that its former key signed are refused')] : [],
  requireSignedRequests: demand('requests without its signature'),
  flowOverride: ofClient.flowOverride as Field,
};

const ofIdentityProvider: Readonly<Record<string, Field>> = {
  enabled: (_, to) => (to === false ? [stops('nobody signs in by it any more')] : []),
  config: (from, to) =>
    Object(from).issuer === Object(to).issuer ? [] : [stops('whoever signed in by it is somebody else')],
  clientId: () => [stops('knows this realm by another name')],
};

const ofDirectory: Readonly<Record<string, Field>> = {
  enabled: (_, to) => (to === false ? [stops('its people’s passwords count no more')] : []),
};

const ofAgent: Readonly<Record<string, Field>> = {
  status: (from, to) => (from === 'active' && to !== 'active' ? [stops('gets no tokens any more')] : []),
};

const ofApplication: Readonly<Record<string, Field>> = {
  enabled: (_, to) => (to === false ? [stops('nobody signs in to its clients any more')] : []),
  // without any it is everybody's
  roles: (from, to) =>
    strings(to).length > 0 && (strings(from).length === 0 || without(from, to).length > 0)
      ? [stops(`is for those alone who hold ${some(strings(to))}`)]
      : [],
};

const ofGroup: Readonly<Record<string, Field>> = {
  roles: lose,
  clientRoles: () => [changes('gives its people other roles of clients')],
};

const fieldsOf = (table: Readonly<Record<string, Field>>, { fields }: PlannedChange): Said[] =>
  fields.flatMap(({ path, from, to }) => (Object.hasOwn(table, path) ? (table[path]?.(from, to) ?? []) : []));

/** What goes is said by `gone`, what changes by its fields. */
const changed = (table: Readonly<Record<string, Field>>, gone: string, change: PlannedChange): Said[] =>
  change.action === 'delete' ? [stops(gone)] : fieldsOf(table, change);
const formerKey = ({ renamedFrom, key }: PlannedChange): string => renamedFrom ?? key;

const disabled = ({ action, fields }: PlannedChange): boolean =>
  action === 'update' && fields.some(({ path, to }) => path === 'enabled' && to === false);

type OfKind = (change: PlannedChange) => { said: readonly Said[]; reach: Reach };
const ofKinds: Readonly<Record<string, OfKind>> = {
  client: (change) => ({
    said: changed(ofClient, 'goes, with all its tokens', change),
    reach: { clients: [formerKey(change)] },
  }),
  samlClient: (change) => ({
    said: changed(ofSamlClient, 'goes: nobody signs in to it any more', change),
    reach: { samlClient: formerKey(change) },
  }),
  identityProvider: (change) => ({
    said: changed(ofIdentityProvider, 'goes: nobody signs in by it any more', change),
    reach: { identityProvider: formerKey(change) },
  }),
  directory: (change) => ({
    said: changed(ofDirectory, 'goes: its people’s passwords count no more', change),
    reach: { directory: formerKey(change) },
  }),
  group: (change) => ({
    said: changed(ofGroup, 'goes, with the roles that it gives', change),
    reach: { group: formerKey(change) },
  }),
  organization: (change) => ({
    said:
      change.action === 'delete' || disabled(change)
        ? [changes('no claim names it, and its providers lead nowhere')]
        : [],
    reach: { organization: formerKey(change) },
  }),
  serviceAccountRoles: (change) => ({
    said: changed({ roles: lose }, 'goes, with the roles of the service account', change),
    reach: { clients: [formerKey(change)] },
  }),
  settings: ({ key, fields }) => ({
    said: fields.flatMap(({ from, to }) => (Object.hasOwn(ofSettings, key) ? (ofSettings[key]?.(from, to) ?? []) : [])),
    reach: { everybody: true },
  }),
  clientScope: ({ action, key }) => ({
    said: action === 'delete' ? [changes('goes from the tokens of clients that have it')] : [],
    reach: { scope: key },
  }),
  role: ({ action, key }) => ({
    said: action === 'delete' ? [stops('goes from whoever holds it')] : [],
    reach: { role: { client: null, name: key } },
  }),
  clientRole: ({ action, key }) => {
    const at = key.indexOf('/');
    return {
      said: action === 'delete' ? [stops('goes from whoever holds it')] : [],
      reach: { role: { client: key.slice(0, at), name: key.slice(at + 1) } },
    };
  },
  flow: ({ action, key }) => ({
    said: action === 'update' ? [changes('asks other steps of who signs in by it')] : [],
    reach: { flow: key },
  }),
  workloadIdentity: (change) => ({
    said: change.action === 'delete' || disabled(change) ? [stops('its workloads get no tokens any more')] : [],
    reach: { clients: strings([change.before?.clientId]) },
  }),
  agent: (change) => ({
    said: changed(ofAgent, 'goes, and its client is switched off', change),
    reach: { clients: strings([change.before?.clientId]) },
  }),
  application: (change) => ({
    said: change.action === 'update' ? fieldsOf(ofApplication, change) : [],
    reach: { clients: strings(change.before?.clients) },
  }),
};

/** Those that matter most come first. */
export const effectsOf = (planned: readonly PlannedChange[]): Effect[] =>
  planned
    .flatMap((change) => {
      const found = change.action === 'create' ? undefined : ofKinds[change.kind]?.(change);
      if (!found) return [];
      return found.said.map((said) => ({ kind: change.kind, key: change.key, ...said, reach: found.reach }));
    })
    .sort((one, other) => Number(other.locksOut) - Number(one.locksOut));
