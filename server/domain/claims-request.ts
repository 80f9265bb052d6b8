// The `claims` parameter: single claims that an application asks for, in the ID token or from userinfo. Pure. OIDC Core §5.5.
// The token holds a requested claim if a scope of the client offers it to the application; other claims are left out, essential or
// not (§5.5.1). A requested value counts only for `sub` and `acr`.
import { z } from 'zod';
import { OAuthError } from '../http/oauth-error.ts';
import { type Carrier, isAskedFor } from './claims.ts';

const One = z.nullable(
  z.looseObject({
    essential: z.boolean().optional(),
    value: z.unknown().optional(),
    values: z.array(z.unknown()).optional(),
  }),
);
const Member = z.nullish(z.record(z.string().max(255), One));
const Parameter = z.looseObject({ id_token: Member, userinfo: Member });

/** Names of claims. */
export interface AskedClaims {
  idToken: string[];
  userinfo: string[];
}

export interface ClaimsRequest extends AskedClaims {
  /** The `sub` that the ID token must have. */
  sub: string | undefined;
  /** The acceptable levels, the preferred one first. */
  acr: { essential: boolean; values: readonly string[] } | undefined;
}

const NOTHING: ClaimsRequest = { idToken: [], userinfo: [], sub: undefined, acr: undefined };

const textsOf = (one: z.infer<typeof One> | undefined): string[] =>
  [one?.value, ...(one?.values ?? [])].filter((value) => typeof value === 'string');

/** Parses the parameter; without text nothing is requested. @throws OAuthError `invalid_request` */
export function claimsRequest(text: string | undefined): ClaimsRequest {
  if (text === undefined) return NOTHING;
  const read = Parameter.safeParse(jsonOf(text));
  if (!read.success)
    throw new OAuthError('invalid_request', 'claims must be a JSON object as OpenID Connect Core 5.5 has it');
  const { id_token: idToken, userinfo } = read.data;
  const acr = idToken?.acr;
  return {
    idToken: Object.keys(idToken ?? {}),
    userinfo: Object.keys(userinfo ?? {}),
    sub: [...textsOf(idToken?.sub), ...textsOf(userinfo?.sub)][0],
    acr: acr ? { essential: acr.essential ?? false, values: textsOf(acr) } : undefined,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The requested claims that the carriers offer; undefined if they offer none. */
export function offeredClaims(carriers: readonly Carrier[], asked: AskedClaims): AskedClaims | undefined {
  const offered = (names: readonly string[]) =>
    names.filter((name) => carriers.some(({ claims }) => claims.some((claim) => isAskedFor(claim, [name]))));
  const [idToken, userinfo] = [offered(asked.idToken), offered(asked.userinfo)];
  return idToken.length + userinfo.length > 0 ? { idToken, userinfo } : undefined;
}
