// Owns: previews of tokens: the claims that a client would get for a user or for itself, with their origins.
// Does not own: making tokens (issued-tokens/mint.ts), what a request may ask for (protocol/authorize/checks.ts).
// Implements: decisions "Token preview".
import type { z } from 'zod';
import { PERSON_CLAIM } from '../../../contract/claims.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { TokenPreview, TokenPreviewInput } from '../../../contract/token-preview.ts';
import type { Sql } from '../../../db/sql.ts';
import { type ClaimView, claimsOf, saidFor } from '../../../domain/claims.ts';
import { type Person, personOf, readPersonRow } from '../../../domain/person.ts';
import { allowedResources } from '../../../domain/resource-indicators.ts';
import { grantScopes, OFFLINE, OPENID, scopeNames, strangersAmong } from '../../../domain/scopes.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import { HIDDEN, originsIn, previewOf, type Sources } from './origins.ts';

export interface TokenPreviewDeps {
  sql: Sql;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  subjects: Pick<Subjects, 'of'>;
  mint: Pick<Mint, 'personsClaims' | 'clientsClaims'>;
  baseUrl: string;
  now: () => Date;
}

/** What the caller may see of a user besides the user: attributes of groups, organizations. */
interface Sees {
  seesGroups: boolean;
  seesOrganizations: boolean;
}
type Input = z.output<typeof TokenPreviewInput>;
type Refused = TokenPreview['refused'];

const missing = (what: string) => new Problem('not-found', `There is no such ${what}`);
/** Values that are made with each token, or are encrypted. */
const UNMADE = {
  jti: '(a new id)',
  gid: '(the grant)',
  sid: '(the session)',
  at_hash: '(of the access token)',
  [PERSON_CLAIM]: '(the user’s id, encrypted)',
};
const unmade = (claims: Record<string, unknown>): Record<string, unknown> => ({
  ...claims,
  ...Object.fromEntries(Object.entries(UNMADE).filter(([name]) => claims[name] !== undefined)),
});

export function createTokenPreviews({ sql, clients, settings, subjects, mint, baseUrl, now }: TokenPreviewDeps) {
  async function clientOf(realm: string, id: string): Promise<ClientView> {
    const [row] = await sql<{ client_id: string }>`
      select client_id from client where realm_id = ${realm} and id = ${id}`;
    const view = row && (await clients.view(realm, row.client_id));
    if (!view) throw missing('client');
    return view;
  }

  /** Pairwise subjects need the realm's salt, which the first token makes; a preview makes none. */
  async function hasSubject(realm: string, client: ClientView, policy: RealmSettingsDto): Promise<boolean> {
    if ((client.subjectType ?? policy.subjectStrategy) !== 'pairwise') return true;
    const [row] = await sql<{ salted: boolean }>`
      select subject_salt is not null as salted from realm where realm_id = ${realm}`;
    return row?.salted ?? false;
  }

  function scopesFor(client: ClientView, { scope, userId }: Input, refused: Refused) {
    const asked = scopeNames(scope) ?? (userId === undefined ? [] : [OPENID]);
    const strangers = strangersAmong(client, asked, new Set([OPENID]));
    for (const name of strangers)
      refused.push({ code: 'scope', message: `The client does not have the scope ${name}` });
    const names = asked.filter((name) => !strangers.includes(name));
    const alone = userId === undefined;
    if (alone && names.some((name) => name === OPENID || name === OFFLINE))
      refused.push({ code: 'scope', message: 'Without a user there is no openid or offline_access' });
    const scopes = grantScopes(client, names, new Set([OPENID])).filter(
      ({ name }) => name !== OFFLINE || (!alone && names.includes(OFFLINE)),
    );
    return { scopes, openid: !alone && names.includes(OPENID) };
  }

  function resourcesFor(client: ClientView, { resource, userId }: Input, realmList: string[], refused: Refused) {
    try {
      const ownBehalf = userId === undefined;
      const asked = (resource ?? '').split(' ').filter((one) => one !== '');
      return allowedResources(asked, { realmList, client, adminAudience: adminAudience(baseUrl), ownBehalf });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      refused.push({ code: 'resource', message: 'A requested resource is not allowed for the client' });
      return [];
    }
  }

  function clientFaults(client: ClientView, grant: string): Refused {
    return [
      ...(client.enabled ? [] : [{ code: 'client', message: 'The client is disabled, or its agent may not act' }]),
      ...(client.grantTypes.has(grant) ? [] : [{ code: 'grant', message: `The client lacks the grant ${grant}` }]),
      ...(client.application?.enabled === false ? [{ code: 'application', message: 'The application is off' }] : []),
    ];
  }

  function personFaults({ application }: ClientView, person: Person, enabled: boolean): Refused {
    const { roles = [] } = application ?? {};
    const admitted = roles.length === 0 || roles.some((role) => person.roles.realm.includes(role));
    return [
      ...(enabled ? [] : [{ code: 'user', message: 'The user is disabled' }]),
      ...(admitted ? [] : [{ code: 'application', message: 'The user has none of the application’s roles' }]),
    ];
  }

  /** Whether the caller may not see a claim's value: an attribute hidden from administrators, or one of a group; organizations. */
  async function hiding(realm: string, { attributes, inherited }: Person, { seesGroups, seesOrganizations }: Sees) {
    const profile = await readProfile(sql, realm);
    const isSeen = (name: string) => Object.hasOwn(visibleTo(profile, 'admin', { [name]: [] }), name);
    return ({ source, attribute, name: claim, aggregate }: Omit<ClaimView, 'in'>): boolean => {
      if (source === 'organization') return !seesOrganizations;
      if (source !== 'attribute') return false;
      const name = attribute ?? claim;
      const ownValue = Object.hasOwn(attributes, name) && (attributes[name] ?? []).length > 0;
      const ofGroup = (aggregate || !ownValue) && inherited.some((of) => Object.hasOwn(of, name));
      return !isSeen(name) || (ofGroup && !seesGroups);
    };
  }

  async function forPerson(
    realm: string,
    client: ClientView,
    input: Input & { userId: string },
    { policy, sees }: { policy: RealmSettingsDto; sees: Sees },
  ): Promise<TokenPreview> {
    const row = await readPersonRow(sql, realm, input.userId);
    if (!row) throw missing('user');
    const person = personOf(row);
    const refused = [...clientFaults(client, 'authorization_code'), ...personFaults(client, person, row.enabled)];
    const { scopes, openid } = scopesFor(client, input, refused);
    const resources = resourcesFor(client, input, policy.resourceIndicators, refused);
    const salted = await hasSubject(realm, client, policy);
    // without a salt, or without the attribute, the user's id stands in for the subject, which is then replaced
    const subject = salted ? await subjects.of(realm, client, person) : undefined;
    if (salted && !subject)
      refused.push({
        code: 'subject',
        message: 'The user has no value of the attribute that applications know users by',
      });
    const audience = subject ? client : { ...client, subjectType: 'public' as const };
    const signedIn = { sid: UNMADE.sid, authTime: Math.floor(now().getTime() / 1000), acr: '1', amr: ['pwd'] };
    const usual = { cnf: undefined, gid: UNMADE.gid, scopes, openid, resources, signedIn, person };
    const made =
      subject || policy.subjectStrategy !== 'attribute'
        ? await mint.personsClaims(realm, audience, { ...usual, about: subject?.sub })
        : await mint.personsClaims(realm, audience, { ...usual, person: { ...person, subject: person.id } });
    const hides = await hiding(realm, person, sees);
    const byAttribute = policy.subjectStrategy === 'attribute' && client.subjectType !== 'pairwise';
    const hidesSub =
      byAttribute && policy.subjectAttribute !== null && hides({ ...NO_CLAIM, attribute: policy.subjectAttribute });
    const sub = !subject ? (salted ? '(none)' : '(made by the first token)') : hidesSub ? HIDDEN : subject.sub;
    const session = { ...signedIn };
    const sources: Sources = { mappers: client.mappers, scopes };
    const origins = (place: 'accessToken' | 'idToken' | 'userinfo') =>
      originsIn(place, sources, person, { session, hides });
    const said = saidFor(client, scopes);
    const userinfo = claimsOf(said, person, 'userinfo', session);
    const issuer =
      client.userinfoSignedResponseAlg === null ? {} : { iss: await settings.issuer(realm), aud: client.clientId };
    return {
      grantedScopes: [...(openid ? [OPENID] : []), ...scopes.map(({ name }) => name)],
      refused,
      consentNeeded: client.consentRequired,
      accessToken: previewOf({ ...unmade(made.access), sub }, origins('accessToken')),
      idToken: openid
        ? previewOf({ ...unmade(made.idToken(UNMADE.at_hash)), sub }, [
            ...(client.idTokenUserinfoClaims ? withoutThose(origins('userinfo'), origins('idToken')) : []),
            ...origins('idToken'),
          ])
        : null,
      userinfo: openid ? previewOf({ ...userinfo, sub, ...issuer }, origins('userinfo')) : null,
    };
  }

  async function forItself(
    realm: string,
    client: ClientView,
    input: Input,
    policy: RealmSettingsDto,
  ): Promise<TokenPreview> {
    const refused = clientFaults(client, 'client_credentials');
    const { scopes } = scopesFor(client, input, refused);
    const resources = resourcesFor(client, input, policy.resourceIndicators, refused);
    const { claims } = await mint.clientsClaims(realm, client, { scopes, resources, cnf: undefined });
    const sources: Sources = { mappers: client.mappers, scopes };
    const origins = originsIn('accessToken', sources, { roles: client.roles }, { session: {}, hides: () => false });
    return {
      grantedScopes: scopes.map(({ name }) => name),
      refused,
      consentNeeded: false,
      accessToken: previewOf(unmade(claims), origins),
      idToken: null,
      userinfo: null,
    };
  }

  return {
    async preview(realm: string, clientUuid: string, input: Input, sees: Sees): Promise<TokenPreview> {
      const client = await clientOf(realm, clientUuid);
      const policy = await settings.of(realm);
      if (!policy) throw missing('realm');
      const { userId } = input;
      if (userId === undefined) return forItself(realm, client, input, policy);
      return forPerson(realm, client, { ...input, userId }, { policy, sees });
    },
  };
}
export type TokenPreviews = ReturnType<typeof createTokenPreviews>;

const NO_CLAIM = {
  name: '',
  source: 'attribute',
  value: null,
  multivalued: false,
  aggregate: false,
  jsonType: 'string',
} as const;

/** The ID token's own claims replace those of userinfo. */
const withoutThose = <T extends { claim: string }>(all: readonly T[], replaced: readonly T[]): T[] =>
  all.filter(({ claim }) => !replaced.some((one) => one.claim === claim));
