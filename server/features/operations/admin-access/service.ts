// Owns: the caller of the admin API (cookie or bearer), their permissions, and whether these cover a grant or a takeover.
// Does not own: the check of a route's permission (features/operations/admin-access/surface.ts), passwords (credentials), tokens' signatures (issued-tokens).
// Implements: specification 5; decisions "Admin authentication", "Rights".
import { z } from 'zod';
import { ADMIN_API_CLAIM, ADMIN_CLI } from '../../../contract/admin-access.ts';
import { PERSON_CLAIM } from '../../../contract/claims.ts';
import type { By } from '../../../contract/events.ts';
import { permissions as known, type Permission } from '../../../contract/permissions.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Maker, Target } from '../../../domain/admin-rights.ts';
import { type Factors, SECOND_FACTOR } from '../../../domain/factors.ts';
import { namedUser } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import {
  ADMIN_MAX_MS,
  hasPermission,
  type Limited,
  type Principal,
  permissionsIn,
  reachOf,
} from '../../../domain/principal.ts';
import { isReached } from '../../../domain/reach.ts';
import { cutoffsOf } from '../../../domain/session.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { HeldGrant } from './store.ts';
import * as store from './store.ts';

export const ADMIN_IDLE_MS = 30 * 60_000;
/** The maximum age of `last_seen_at`, so that not every request writes. */
const TOUCH_MS = 60_000;

/** The token verifier: it returns an access token's claims. */
export interface TokenVerifier {
  present(
    realm: string,
    token: PresentedToken,
    options: { audience: string },
  ): Promise<Readonly<Record<string, unknown>> | undefined>;
}

export interface Caller {
  principal: Principal;
  /**
   * The rules demand more factors than at the sign-in. Until the administrator proves them, the session permits
   * nothing.
   */
  moreToProve: boolean;
}

/** The claims of an administrator's token. A token without `sid` (offline access) outlives its session, so it is refused. */
const PersonsToken = z.object({
  client_id: z.literal(ADMIN_CLI),
  sub: z.string(),
  [PERSON_CLAIM]: z.string().optional(),
  sid: z.guid(),
  gid: z.guid(),
  auth_time: z.number(),
  acr: z.coerce.number(),
  amr: z.array(z.string()),
  exp: z.number(),
});

/** The header and payload of an unverified token. They name the realm that may have issued it. */
const Said = z.tuple([z.object({ kid: z.guid() }), z.object({ iss: z.string().refine((iss) => !iss.includes('\0')) })]);

const isPermission = (name: string): name is Permission => (known as readonly string[]).includes(name);

/**
 * The permissions of these grants by target realm, with grants limited to groups or clients apart. Only principals of
 * master have rights in other realms: grants that others hold elsewhere don't count. A limited role counts only in its
 * own realm.
 */
export function permissionsHeld(
  home: string,
  grants: readonly HeldGrant[],
): { permissions: Map<string, Set<Permission>>; limited: Limited[] } {
  const limited: Limited[] = [];
  const byTarget = new Map<string, Set<Permission>>();
  for (const { target, permissions, groups, clients } of grants) {
    if (home !== MASTER && target !== home) continue;
    const named = permissions.filter(isPermission);
    if (named.length === 0) continue;
    if (groups === null && clients === null) byTarget.set(target, new Set([...(byTarget.get(target) ?? []), ...named]));
    else if (target === home)
      limited.push({ permissions: new Set(named), groups: groups ?? [], clients: clients ?? [] });
  }
  return { permissions: byTarget, limited };
}
/** Whether the principal has any permission at the admin API. */
export const holdsAny = ({ permissions, limited }: ReturnType<typeof permissionsHeld>): boolean =>
  permissions.size > 0 || limited.length > 0;

/** Whether the principal holds all of `wanted` over the target; for the target `*` only permissions over `*` count. */
export function holdsPermissions(principal: Principal, target: string, wanted: readonly string[]): boolean {
  const mine = permissionsIn(principal, target);
  return wanted.every((permission) => isPermission(permission) && mine.has(permission));
}

export function createAccess({
  sql,
  baseUrl,
  tokens,
  subjects,
  settings,
  factors,
  signIns,
  now,
}: {
  sql: Sql;
  baseUrl: string;
  tokens: TokenVerifier;
  subjects: Pick<Subjects, 'find'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  factors: Pick<Factors, 'secondTypes' | 'identifyByAmr' | 'haveSecond' | 'levelOf' | 'identify'>;
  signIns: Pick<SignIns, 'judgeFor'>;
  now: () => Date;
}) {
  const audience = adminAudience(baseUrl);

  /**
   * Whether the session's factors suffice: a second factor if the user has one, and the factors that the flow and the
   * realm demand now.
   */
  async function isEnough(realm: string, session: store.SessionRow): Promise<boolean> {
    const { factors: given, types } = session;
    if (factors.haveSecond(types) && factors.levelOf(given) < SECOND_FACTOR) return false;
    const judged = await signIns.judgeFor(realm, { clientId: undefined, flow: undefined });
    return judged({ factors: given, types, findings: null, is: personOf(session) });
  }

  async function byCookie(cookie: string): Promise<Caller | undefined> {
    const found = parseCookie(cookie);
    if (!found) return undefined;
    const session = await store.findSession(sql, found.realm, found.hash);
    if (!session || !factors.identify(session.factors)) return undefined;
    const at = now();
    const idleEnd = session.last_seen_at.getTime() + ADMIN_IDLE_MS;
    if (Math.min(idleEnd, session.expires_at.getTime()) <= at.getTime()) return undefined;
    const holding = permissionsHeld(found.realm, session.grants);
    if (!holdsAny(holding)) return undefined;
    if (at.getTime() - session.last_seen_at.getTime() >= TOUCH_MS)
      await store.touchSession(sql, found.realm, found.hash, at);
    const principal: Principal = {
      type: 'user',
      id: session.user_id,
      name: session.username,
      realm: found.realm,
      ...holding,
      session: { adminSession: found.hash },
      expiresAt: Math.min(at.getTime() + ADMIN_IDLE_MS, session.expires_at.getTime()),
    };
    return { principal, moreToProve: !(await isEnough(found.realm, session)) };
  }

  /**
   * A user's token from `realmctl`. It carries the user's own present rights while its session lives, and only if the
   * session's sign-in would also have opened an admin session.
   */
  async function byPersonsToken(realm: string, token: z.infer<typeof PersonsToken>): Promise<Caller | undefined> {
    const at = now();
    const rules = await settings.of(realm);
    if (!rules || at.getTime() - token.auth_time * 1000 >= ADMIN_MAX_MS) return undefined;
    const userId = subjects.find(realm, token);
    if (userId === undefined) return undefined;
    const person = await store.findPerson(sql, realm, {
      userId,
      sessionId: token.sid,
      clientId: ADMIN_CLI,
      audience,
      secondFactors: factors.secondTypes,
      cutoffs: cutoffsOf(rules, at),
    });
    if (!person || !factors.identifyByAmr(token.amr)) return undefined;
    const holding = permissionsHeld(realm, person.grants);
    if (!holdsAny(holding)) return undefined;
    const { user_id: id, username: name } = person;
    const session = { sessionId: token.sid };
    return {
      principal: { type: 'user', id, name, realm, ...holding, session, expiresAt: token.exp * 1000 },
      moreToProve: (person.has_second_factor || rules.requireMfa) && token.acr < SECOND_FACTOR,
    };
  }

  async function byToken(presented: PresentedToken): Promise<Caller | undefined> {
    const realm = await realmOf(presented.token);
    if (realm === undefined) return undefined;
    const claims = await tokens.present(realm, presented, { audience });
    // The issuer is the audience of tokens that were requested without a resource: such a token isn't meant for the admin
    // API.
    if (!claims || claims.iss === audience || claims[ADMIN_API_CLAIM] !== true) return undefined;
    const { client_id: clientId, sub, exp } = claims;
    const person = PersonsToken.safeParse(claims);
    if (person.success) return byPersonsToken(realm, person.data);
    // Otherwise it must be a service account's own token: a user's token must not carry the client's grants.
    if (typeof clientId !== 'string' || sub !== clientId || isPersons(claims)) return undefined;
    const client = await store.findClient(sql, realm, clientId, now());
    if (!client) return undefined;
    const holding = permissionsHeld(realm, client.grants);
    if (!holdsAny(holding)) return undefined;
    const principal: Principal = {
      ...(client.agent
        ? ({ type: 'agent', ...client.agent } as const)
        : ({ type: 'client', id: client.id, name: client.client_id } as const)),
      realm,
      ...holding,
      expiresAt: typeof exp === 'number' ? exp * 1000 : null,
    };
    return { principal, moreToProve: false };
  }

  /** The realm that may have issued the token, by its own claims; the signature then decides. */
  async function realmOf(jwt: string): Promise<string | undefined> {
    const said = Said.safeParse([0, 1].map((part) => partOf(jwt, part))).data;
    if (!said) return undefined;
    const [{ kid }, { iss: issuer }] = said;
    const prefix = `${baseUrl}/realms/`;
    const named = issuer.startsWith(prefix) ? issuer.slice(prefix.length) : '';
    if (/^[a-z0-9-]{1,63}$/.test(named)) return named;
    return store.realmOfIssuer(sql, issuer, kid);
  }

  /**
   * Whether the principal holds all permissions of the target: an administrator can't grant, or take over, more than they
   * hold. Inside a transaction pass its `sql`.
   */
  async function covers(principal: Principal, realm: string, target: Target, on: Sql = sql): Promise<boolean> {
    const { userId, userIds, clientUuid, adminRoles } = target;
    if (
      principal.realm === realm &&
      principal.type === 'user' &&
      userId === principal.id &&
      !userIds &&
      !clientUuid &&
      !adminRoles
    )
      return true;
    const granted: { target: string; permissions: readonly string[] }[] = [];
    if (userId) granted.push(...(await store.grants(on, realm, { userId })));
    if (userIds) granted.push(...(await store.grants(on, realm, { userIds })));
    if (clientUuid) granted.push(...(await store.grants(on, realm, { clientUuid })));
    if (adminRoles && adminRoles.length > 0) {
      const roles = await store.rolesNamed(on, realm, adminRoles);
      granted.push(...roles.map(({ permissions }) => ({ target: realm, permissions })));
    }
    return granted.every((grant) => holdsPermissions(principal, grant.target, grant.permissions));
  }

  return {
    audience,

    authenticate: (credential: { token: PresentedToken } | { cookie: string }): Promise<Caller | undefined> =>
      'token' in credential ? byToken(credential.token) : byCookie(credential.cookie),

    covers,

    /**
     * Whether the author of a link could still create it: they may write users, and hold all permissions that the user
     * holds.
     */
    async stillMay(maker: Maker, realm: string, userId: string, on: Sql): Promise<boolean> {
      const grants = await store.grantsOfMaker(on, maker, now());
      if (!grants) return false;
      const principal: Principal = { ...maker, name: '', ...permissionsHeld(maker.realm, grants), expiresAt: null };
      const reach = reachOf(principal, realm, 'users:write');
      const writes =
        hasPermission(principal, realm, 'users:write') ||
        (reach !== undefined && (await isReached(on, realm, reach, { user: userId }, { writes: true })));
      return writes && (await covers(principal, realm, { userId }, on));
    },

    /** Grants a role of `realm`; the caller has checked `covers`. False: the holder has it already. */
    async grant(
      { sql: on, record }: Tx,
      by: By,
      realm: string,
      { role, target, holder }: { role: string; target: string; holder: store.Holder },
    ): Promise<boolean> {
      const [row] = await store.rolesNamed(on, realm, [role]);
      if (!row) throw new Error(`realm ${realm} has no admin role ${role}`);
      if (!(await store.insertGrant(on, realm, { roleId: row.id, holder, target }))) return false;
      const subject =
        'userId' in holder
          ? await namedUser(on, realm, holder.userId)
          : ({ type: 'client', id: holder.clientUuid, name: null } as const);
      record({ type: 'ADMIN_GRANT_CHANGED', realm, by, subject, data: { given: role, target } });
      return true;
    },
  };
}
export type Access = ReturnType<typeof createAccess>;

/** `<realm>.<secret>`: the realm and the secret's digest find the session's row. */
export function parseCookie(cookie: string): { realm: string; hash: Buffer } | undefined {
  const match = /^([a-z0-9-]{1,63})\.([A-Za-z0-9_-]{43})$/.exec(cookie);
  return match?.[1] && match[2] ? { realm: match[1], hash: sha256(match[2]) } : undefined;
}

function partOf(jwt: string, part: number): unknown {
  try {
    return JSON.parse(Buffer.from(jwt.split('.')[part] ?? '', 'base64url').toString());
  } catch {
    return undefined; // not a JWT
  }
}
