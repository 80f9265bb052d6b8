// What a plan does to who uses the realm now, in words: redirect URIs, clients, roles that go, lifetimes that get shorter.
// Pure; how many that touches is consequences.ts's to count. Decisions "Import, export, plan".
import { strings } from '../../resource/items.ts';
import type { PlannedChange } from '../../resource/part.ts';

/** Who is touched: people of these clients, of the clients with these scopes or that flow, who hold a role, or everybody. */
export interface Reach {
  clients?: readonly string[];
  scope?: string;
  flow?: string;
  role?: { client: string | null; name: string };
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

const fieldsOf = (table: Readonly<Record<string, Field>>, { fields }: PlannedChange): Said[] =>
  fields.flatMap(({ path, from, to }) => (Object.hasOwn(table, path) ? (table[path]?.(from, to) ?? []) : []));

const disabled = ({ action, fields }: PlannedChange): boolean =>
  action === 'update' && fields.some(({ path, to }) => path === 'enabled' && to === false);

type OfKind = (change: PlannedChange) => { said: readonly Said[]; reach: Reach };
const ofKinds: Readonly<Record<string, OfKind>> = {
  client: (change) => ({
    said: change.action === 'delete' ? [stops('goes, with all its tokens')] : fieldsOf(ofClient, change),
    reach: { clients: [change.renamedFrom ?? change.key] },
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
  application: (change) => ({
    said: disabled(change) ? [stops('nobody signs in to its clients any more')] : [],
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
