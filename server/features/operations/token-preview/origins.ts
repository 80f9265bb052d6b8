// Where the claims of a token come from, pure: it follows the order in which domain/claims.ts collects them. Decisions
// "Token preview".
import type { ClaimPlace } from '../../../contract/claims.ts';
import { PERSON_CLAIM } from '../../../contract/claims.ts';
import type { ClaimOrigin, PreviewedToken } from '../../../contract/token-preview.ts';
import { type ClaimView, claimsOf, type ScopeView, type SessionFacts, type Subject } from '../../../domain/claims.ts';

/** A claim with the mapper or scope that gives it. */
type Given = ClaimView & { scope: string | null };
export interface Sources {
  mappers: readonly ClaimView[];
  scopes: readonly ScopeView[];
}

/** The mappers first, then the scopes, as `saidFor` has them. */
const givenBy = ({ mappers, scopes }: Sources): Given[] => [
  ...mappers.map((claim) => ({ ...claim, scope: null })),
  ...scopes.flatMap(({ name, claims }) => claims.map((claim) => ({ ...claim, scope: name }))),
];

const words: Record<ClaimView['source'], (claim: ClaimView) => string> = {
  attribute: ({ attribute, name }) => `the user’s attribute ${attribute ?? name}, or that of a group`,
  property: ({ attribute }) => `the user’s ${attribute}`,
  roles: () => 'the realm roles that the user holds directly, by groups or by other roles',
  clientRoles: ({ value }) => (value ? `the user’s roles of the client ${value}` : 'the user’s roles of all clients'),
  groups: () => 'the paths of the user’s groups',
  organization: () => 'the organizations that the user belongs to',
  constant: () => 'a fixed value',
  audience: ({ value }) => `the audience ${value}`,
  session: ({ attribute }) => `how the user signed in: ${attribute}`,
};

const server: Record<string, string> = {
  iss: 'the realm’s issuer',
  sub: 'the user, by the subject strategy of the realm or the client; without a user the client',
  aud: 'who the token is for: the requested resources, the issuer, and audiences of mappers',
  exp: 'the client’s or the realm’s lifetime of tokens',
  iat: 'the time of issue',
  jti: 'a new id for each token',
  client_id: 'the client',
  scope: 'the granted scopes that show in tokens',
  gid: 'the grant, by which the token is revoked',
  sid: 'the user’s session',
  auth_time: 'when the user signed in',
  acr: 'the level of assurance of the sign-in',
  amr: 'the methods of the sign-in',
  at_hash: 'the access token that belongs to the ID token',
  may_act: 'the client’s setting mayActClient',
  admin_api: 'the token is for the admin API',
  [PERSON_CLAIM]: 'the user’s id, encrypted, where sub is another value',
};

const own = (of: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(of, name) ? of[name] : undefined;

/** @param hides whether the caller may not see the value of a claim */
export function originsIn(
  place: ClaimPlace,
  sources: Sources,
  subject: Subject,
  { session, hides }: { session: SessionFacts; hides(claim: ClaimView): boolean },
): ClaimOrigin[] {
  const found = new Map<string, ClaimOrigin>();
  for (const { scope, ...claim } of givenBy(sources)) {
    const isAudience = claim.source === 'audience' && place === 'accessToken' && claim.in.includes(place);
    const gives = isAudience || Object.keys(claimsOf([{ claims: [claim] }], subject, place, session)).length > 0;
    const name = isAudience ? `aud (${claim.value})` : claim.name;
    if (!gives || found.has(name)) continue;
    const by = scope === null ? 'A mapper of the client' : `The client scope ${scope}`;
    found.set(name, {
      claim: isAudience ? 'aud' : claim.name,
      from: scope === null ? 'mapper' : 'client-scope',
      scope,
      source: claim.source,
      attribute: claim.attribute,
      message: `${by}: ${words[claim.source](claim)}`,
      hidden: hides(claim),
    });
  }
  return [...found.values()];
}

/** Later origins replace earlier ones of the same claim, as later claims do in a token. */
export function previewOf(claims: Record<string, unknown>, origins: readonly ClaimOrigin[]): PreviewedToken {
  const shown: Record<string, unknown> = JSON.parse(JSON.stringify(claims));
  const byName = new Map(origins.map((origin) => [`${origin.claim} ${origin.message}`, origin]));
  const named = new Set(origins.map(({ claim }) => claim));
  for (const { claim, hidden } of byName.values()) if (hidden) hide(shown, claim);
  const builtIn = Object.keys(shown).flatMap((claim): ClaimOrigin[] => {
    const message = own(server, claim);
    if (typeof message !== 'string' || (named.has(claim) && claim !== 'aud')) return [];
    const origin = { claim, from: 'server', scope: null, source: null, attribute: null, hidden: false } as const;
    return [{ ...origin, message: `The server: ${message}` }];
  });
  return { claims: shown, origins: [...builtIn, ...byName.values()] };
}

export const HIDDEN = '(hidden)';

function hide(claims: Record<string, unknown>, name: string): void {
  if (Object.hasOwn(claims, name)) {
    claims[name] = HIDDEN;
    return;
  }
  const [outer = '', ...rest] = name.split('.');
  const nested = own(claims, outer);
  const inner = rest.join('.');
  if (typeof nested === 'object' && nested !== null && Object.hasOwn(nested, inner)) Reflect.set(nested, inner, HIDDEN);
}
