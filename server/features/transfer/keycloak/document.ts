// A realm of Keycloak as a realm document: each section translated by its file here, then cut to what its part takes. Pure.
// docs/keycloak.md.

import type { ProviderConfig } from '../../../contract/identity-providers.ts';
import { Problem } from '../../../contract/problem.ts';
import { presentSections } from '../../../contract/sections.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { issuesAt, strings } from '../../../resource/items.ts';
import type { RealmPart } from '../../../resource/part.ts';
import { authorizationOf } from './authorization.ts';
import { clientOf, isOwnClient, isSaml } from './clients.ts';
import { directoryOf } from './directories.ts';
import { Realm } from './export-shape.ts';
import { fitting } from './fit.ts';
import { asksAllForSecondFactor, flowsOf } from './flows.ts';
import { identityProviderOf } from './identity-providers.ts';
import { scopesOf } from './mappers.ts';
import type { Notes } from './notes.ts';
import { createPace } from './pace.ts';
import { profileOf } from './profile.ts';
import { groupsOf, type KnownClient, organizationsOf, rolesOf } from './roles.ts';
import { samlClientOf } from './saml-clients.ts';
import { settingsOf, smtpOf } from './settings.ts';
import type { There } from './users.ts';

export interface TranslatedRealm {
  sections: Map<string, unknown>;
  known: KnownClient;
  there: There;
  /** Whose the subjects of an identity provider are, by its alias; undefined: nothing says it. */
  issuers: Map<string, string | undefined>;
  profile: UserProfile | undefined;
}

/** @throws Problem `invalid-request` where it isn't what Keycloak exports */
function readRealm(exported: unknown): Realm {
  const { data, error } = Realm.safeParse(exported);
  if (data) return data;
  const errors = issuesAt('', error);
  throw new Problem('invalid-request', `This isn’t what Keycloak exports: ${errors[0]?.path}: ${errors[0]?.message}`, {
    errors: errors.slice(0, 100),
  });
}

export async function documentOf(
  exported: Readonly<Record<string, unknown>>,
  { realm: target, parts, notes }: { realm: string; parts: readonly RealmPart[]; notes: Notes },
): Promise<TranslatedRealm> {
  const realm = readRealm(exported);
  const clients = (realm.clients ?? []).filter(({ clientId }) => !isOwnClient(clientId, realm.realm));
  const ids = new Set(clients.filter((client) => !isSaml(client)).map(({ clientId }) => clientId));
  const known: KnownClient = (clientId) => ids.has(clientId);
  const { flows, aliases } = flowsOf(realm, notes);
  const bound = (flow: string) => flows.some(({ alias }) => alias === flow);
  const oidc = clients
    .filter((client) => !isSaml(client))
    .map((client) => clientOf(client, { flows: aliases, known, notes }));
  const profile = await profileOf(realm, notes);
  const settings = settingsOf(exported, realm, notes);
  // Keycloak's own flow does what this server's does; one that couldn't be carried over was told.
  if (typeof settings.browserFlow === 'string' && !bound(settings.browserFlow)) {
    if (settings.browserFlow !== 'browser')
      notes.add(
        { kind: 'realm', key: realm.realm ?? '', field: 'browserFlow' },
        `${settings.browserFlow} isn’t carried over: the realm’s own is used`,
      );
    delete settings.browserFlow;
  }
  const translated = new Map<string, unknown>(
    Object.entries({
      realm: asksAllForSecondFactor(realm) ? { ...settings, requireMfa: true } : settings,
      userProfile: profile,
      ...scopesOf(realm.clientScopes ?? [], notes, known),
      flows,
      clients: oidc.map(({ client }) => withFlow(client, bound)),
      ...rolesOf(realm, known, notes),
      clientProtocolMappers: oidc.flatMap(({ client: { clientId }, mappers }) =>
        mappers.length > 0 ? [{ clientId, mappers }] : [],
      ),
      groups: groupsOf(realm, known, notes),
      authorizationServices: clients.flatMap((client) =>
        known(client.clientId) ? (authorizationOf(client, { known, notes }) ?? []) : [],
      ),
      identityProviders: (realm.identityProviders ?? []).flatMap((provider) => {
        const mappers = (realm.identityProviderMappers ?? []).filter((m) => m.identityProviderAlias === provider.alias);
        return identityProviderOf(provider, mappers, notes) ?? [];
      }),
      userFederation: (realm.components?.['org.keycloak.storage.UserStorageProvider'] ?? []).flatMap(
        (component) => directoryOf(component, notes) ?? [],
      ),
      organizations: organizationsOf(realm.organizations ?? [], notes),
      samlClients: clients
        .filter(isSaml)
        .map((client) =>
          withFlow(samlClientOf(client, { flows: aliases, scopes: realm.clientScopes ?? [], notes }), bound),
        ),
      messagingProviders: smtpOf(realm, notes),
    }),
  );
  const sections = await cut(translated, { target, parts, notes });
  return { sections, there: thereIn(sections), issuers: issuersIn(sections.get('identityProviders')), known, profile };
}

const listed = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
const namesIn = (value: unknown, key: string): Set<string> => new Set(strings(listed(value).map((one) => one[key])));
const thereIn = (sections: ReadonlyMap<string, unknown>): There => ({
  roles: namesIn(sections.get('roles'), 'name'),
  groups: namesIn(sections.get('groups'), 'path'),
  clientRoles: new Map(
    Object.entries(Object(sections.get('clientRoles'))).map(([clientId, roles]) => [clientId, namesIn(roles, 'name')]),
  ),
});

/** As features/brokering has them of those who come. */
export const issuersIn = (providers: unknown): Map<string, string | undefined> =>
  new Map(
    listed(providers).flatMap(({ alias, type, config }) => {
      const { issuer, entityId, userinfoEndpoint }: ProviderConfig = Object(config);
      const from = type === 'oidc' ? issuer : type === 'saml' ? entityId : userinfoEndpoint;
      if (typeof alias !== 'string') return [];
      // A placeholder's value is this server's alone.
      const known = from?.includes('${') ? undefined : from;
      return [[alias, known !== undefined && type === 'oauth2' ? new URL(known).origin : known] as const];
    }),
  );

/** Keycloak's own flows are the realm's here. */
const withFlow = ({ flowOverride, ...client }: Record<string, unknown>, bound: (flow: string) => boolean) =>
  typeof flowOverride === 'string' && bound(flowOverride) ? { ...client, flowOverride } : client;

/** Of what decides about others nothing is cut out. */
const DECIDING: ReadonlySet<string> = new Set(['authorizationServices']);

/** In the parts' order: what is left out of one section is not named by those that follow. */
async function cut(
  translated: ReadonlyMap<string, unknown>,
  { target: realm, parts, notes }: { target: string; parts: readonly RealmPart[]; notes: Notes },
): Promise<Map<string, unknown>> {
  const sections = new Map<string, unknown>();
  const gone = new Map<string, Set<string>>();
  const breathe = createPace();
  for (const part of parts) {
    const whole = translated.get(part.section);
    if (whole === undefined) continue;
    const { kind } = part;
    const one = async (given: unknown) => {
      await breathe();
      const { value, cuts } = fitting(given, { part, realm, gone });
      for (const { path, why } of cuts)
        notes.add({ kind, key: nameOf(part, given), field: path === '' ? undefined : path }, why);
      const whole = cuts.length > 0 && DECIDING.has(part.section) ? undefined : value;
      if (value !== undefined && whole === undefined)
        notes.add(
          { kind, key: nameOf(part, given) },
          'half of it could permit what the whole denies: declare it by hand',
        );
      if (whole === undefined) gone.set(kind, (gone.get(kind) ?? new Set()).add(nameOf(part, given)));
      return whole;
    };
    if (part.list && Array.isArray(whole)) {
      const list: unknown[] = [];
      for (const given of whole) {
        const value = await one(given);
        if (value !== undefined) list.push(value);
      }
      if (list.length > 0) sections.set(part.section, list);
    } else if (presentSections.get(part.section)?.shape === 'map') {
      const map = {};
      for (const [name, list] of Object.entries(Object(whole))) Object.assign(map, await one({ [name]: list }));
      if (Object.keys(map).length > 0) sections.set(part.section, map);
    } else {
      const value = await one(whole);
      if (value !== undefined && Object.keys(Object(value)).length > 0) sections.set(part.section, value);
    }
  }
  return sections;
}

/** By its key, or whose it is. */
function nameOf({ section }: RealmPart, given: unknown): string {
  const { key, shape } = presentSections.get(section) ?? {};
  const of = Object(given);
  if (shape === 'map') return Object.keys(of)[0] ?? '';
  const fields = typeof key === 'string' ? [key] : (key ?? []);
  const named = fields.map((field) => of[field]).filter((name) => name !== undefined);
  return String(named.length > 0 ? named.join('/') : (of.clientId ?? section));
}
