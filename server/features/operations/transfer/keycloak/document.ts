// Translates a Keycloak realm to a realm document: each section by its own file here, then reduced to the values that
// its part accepts. Pure. docs/keycloak.md.

import type { ProviderConfig } from '../../../../contract/identity-providers.ts';
import { Problem } from '../../../../contract/problem.ts';
import type { UserProfile } from '../../../../contract/user-profile.ts';
import { strings } from '../../../../resource/items.ts';
import type { RealmPart } from '../../../../resource/part.ts';
import { authorizationOf } from './authorization.ts';
import { clientOf, isOidc, isOwnClient, isSaml } from './clients.ts';
import { cutSections } from './cut.ts';
import { directoryOf } from './directories.ts';
import { Realm } from './export-shape.ts';
import { asksAllForSecondFactor, flowsOf } from './flows.ts';
import { identityProviderOf } from './identity-providers.ts';
import { type Indices, readLeniently } from './lenient.ts';
import { scopesOf } from './mappers.ts';
import type { Notes } from './notes.ts';
import { placesIn } from './places.ts';
import { profileOf } from './profile.ts';
import { isField } from './realm-fields.ts';
import { groupsOf, type KnownClient, organizationsOf, rolesOf } from './roles.ts';
import { samlClientOf } from './saml-clients.ts';
import { settingsOf, smtpOf } from './settings.ts';
import type { There } from './users.ts';

export interface TranslatedRealm {
  sections: Map<string, unknown>;
  known: KnownClient;
  profile: UserProfile | undefined;
}

/** @throws Problem `invalid-request` if it isn't a Keycloak export */
function readRealm(exported: Readonly<Record<string, unknown>>, notes: Notes, file: number): Realm {
  const indices: Indices = new WeakMap();
  const isRealm = Object.keys(exported).some((field) => Object.hasOwn(Realm.shape, field) || isField(field));
  const told: { path: string; why: string }[] = [];
  const tell = (path: string, why: string) => void told.push({ path, why });
  const realm = isRealm ? readLeniently(Realm, exported, { indices, tell }) : undefined;
  if (!realm) {
    const message = 'This isn’t what Keycloak exports: it has no field of a realm';
    throw new Problem('invalid-request', message, { errors: [{ path: '', message }] });
  }
  notes.find(file, placesIn(exported, indices), indices);
  const key = realm.realm ?? '';
  for (const { path, why } of told) notes.add({ kind: 'realm', key, field: path, path, file }, why);
  return realm;
}

export async function documentOf(
  exported: Readonly<Record<string, unknown>>,
  { realm: target, parts, notes, file }: { realm: string; parts: readonly RealmPart[]; notes: Notes; file: number },
): Promise<TranslatedRealm> {
  const realm = readRealm(exported, notes, file);
  const clients = (realm.clients ?? []).filter(({ clientId }) => !isOwnClient(clientId, realm.realm));
  const ids = new Set(clients.filter(isOidc).map(({ clientId }) => clientId));
  for (const client of clients)
    if (!isOidc(client) && !isSaml(client))
      notes.add({ kind: 'client', key: client.clientId }, `its protocol ${client.protocol} is not spoken here`);
  const known: KnownClient = (clientId) => ids.has(clientId);
  const { flows, aliases } = flowsOf(realm, notes);
  const bound = (flow: string) => flows.some(({ alias }) => alias === flow);
  const oidc = clients.filter(isOidc).map((client) => clientOf(client, { flows: aliases, known, notes }));
  const profile = await profileOf(realm, notes);
  const settings = settingsOf(exported, realm, notes);
  // Keycloak's built-in flow works like this server's. Flows that could not be carried over were reported already.
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
  const sections = await cutSections(translated, { target, parts, notes });
  return { sections, known, profile };
}

/** The objects of a list; empty if the value is no list. */
export const objectsIn = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
const namesIn = (value: unknown, key: string): Set<string> => new Set(strings(objectsIn(value).map((one) => one[key])));
/** The document's objects that users can hold: roles, groups, clients. */
export const thereIn = (sections: ReadonlyMap<string, unknown>): There => ({
  roles: namesIn(sections.get('roles'), 'name'),
  groups: namesIn(sections.get('groups'), 'path'),
  clients: namesIn(sections.get('clients'), 'clientId'),
  clientRoles: new Map(
    Object.entries(Object(sections.get('clientRoles'))).map(([clientId, roles]) => [clientId, namesIn(roles, 'name')]),
  ),
});

/** The issuer of each provider's identities, computed as features/authentication/brokering computes it. */
export const issuersIn = (providers: unknown): Map<string, string | undefined> =>
  new Map(
    objectsIn(providers).flatMap(({ alias, type, config }) => {
      const { issuer, entityId, userinfoEndpoint }: ProviderConfig = Object(config);
      const from = type === 'oidc' ? issuer : type === 'saml' ? entityId : userinfoEndpoint;
      if (typeof alias !== 'string') return [];
      // The value of a placeholder is known only to this server.
      const known = from?.includes('${') ? undefined : from;
      return [[alias, known !== undefined && type === 'oauth2' ? URL.parse(known)?.origin : known] as const];
    }),
  );

/** Removes an override by one of Keycloak's built-in flows: the realm's own flow applies. */
const withFlow = ({ flowOverride, ...client }: Record<string, unknown>, bound: (flow: string) => boolean) =>
  typeof flowOverride === 'string' && bound(flowOverride) ? { ...client, flowOverride } : client;
