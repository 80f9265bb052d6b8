// The rules across settings, beyond each field's own schema; pure. The import engine uses them too.
// Decisions "Reading and writing"; specification 2.3.
import { isDeepStrictEqual } from 'node:util';
import { ALL_CONFIGURATION } from '../../../contract/declared-only.ts';
import { HIDES, hasHiddenCharacters, loopbackHosts } from '../../../contract/names.ts';
import type { Permission } from '../../../contract/permissions.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import { freshSettings, type RealmSettingsDto, type SettingsInput } from '../../../contract/settings.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { anothersResource, isAnothers, type RealmAt } from '../../../http/own-addresses.ts';
import { authorityFaults } from '../clients/certificate-rules.ts';
import { passkeyFaults } from './passkey-rules.ts';

/** The stored settings: only those that were set. */
export type StoredSettings = Partial<Omit<RealmSettingsDto, 'realmId'>>;

/** All settings of a realm: the stored ones over a new realm's values. */
export const settingsOf = (realm: string, stored: StoredSettings): RealmSettingsDto => ({
  realmId: realm,
  ...freshSettings(realm),
  resourceIndicators: [],
  ...stored,
});

export interface SettingsChange {
  /** The settings after the change. */
  wanted: RealmSettingsDto;
  /** The changed fields, to be stored. */
  patch: StoredSettings;
  changes: { field: string; from: unknown; to: unknown }[];
}

/** An omitted field keeps its value; an equal value is no change. */
export function changeOf(current: RealmSettingsDto, input: SettingsInput): SettingsChange {
  const { realmId: _, ...fields } = input;
  const before = new Map<string, unknown>(Object.entries(current));
  const differing = Object.entries(fields).filter(
    ([field, to]) => to !== undefined && !isDeepStrictEqual(before.get(field), to),
  );
  const patch: StoredSettings = Object.fromEntries(differing);
  const changes = differing.map(([field, to]) => ({ field, from: before.get(field) ?? null, to }));
  return { wanted: { ...current, ...patch }, patch, changes };
}

/** The setting whose authorities make certificates for clients. */
export const AUTHORITIES = 'tlsClientAuthAuthorities';
/**
 * The permissions that the author of a change needs besides, by the setting: `declaredOnly` says what the realm's managers alone may
 * change, the key of an authority lets its owner act as clients, and a page at a related origin can ask users for their passkeys.
 */
export const permissionsBesides: Readonly<Partial<Record<string, readonly Permission[]>>> = {
  declaredOnly: ['managers:write'],
  passkeyRpId: ['managers:write'],
  passkeyRelatedOrigins: ['managers:write'],
  [AUTHORITIES]: ['clients:write'],
};

/** The objects of the realm document that these changes touch: each setting, and each resource indicator. */
export const touchedBy = (changes: SettingsChange['changes']): { kind: string; key: string }[] =>
  changes.flatMap(({ field, from, to }) => {
    if (field !== 'resourceIndicators') return [{ kind: 'settings', key: field }];
    const keysIn = (list: unknown): Set<string> => new Set(Array.isArray(list) ? list.map(String) : []);
    return [...keysIn(from).symmetricDifference(keysIn(to))].map((key) => ({ kind: 'resourceIndicator', key }));
  });

const OPENNESS = { closed: 0, token: 1, open: 2 } as const;
/** Whether a list of hosts admits a host that it did not admit before; an empty list admits any. */
const takesMore = (before: readonly string[], hosts: readonly string[]): boolean =>
  before.length > 0 && (hosts.length === 0 || hosts.some((host) => !before.includes(host)));

/** Fields by which more clients can register themselves with the scope `account` than before. */
export function accountLendingFields(before: RealmSettingsDto, wanted: RealmSettingsDto): string[] {
  if (!wanted.clientRegistrationScopes.includes(ACCOUNT_SCOPE)) return [];
  const lists = ['clientRegistrationRedirectHosts', 'clientIdMetadataHosts'] as const;
  return [
    ...(before.clientRegistrationScopes.includes(ACCOUNT_SCOPE) ? [] : ['clientRegistrationScopes']),
    ...(OPENNESS[wanted.clientRegistration] > OPENNESS[before.clientRegistration] ? ['clientRegistration'] : []),
    ...(wanted.clientIdMetadataDocuments && !before.clientIdMetadataDocuments ? ['clientIdMetadataDocuments'] : []),
    ...lists.filter((list) => takesMore(before[list], wanted[list])),
  ];
}

const uniqueLists = [
  'supportedLocales',
  'resourceIndicators',
  'passwordBlocklist',
  'declaredOnly',
  'passkeyAllowedAuthenticators',
  'passkeyDeniedAuthenticators',
  'passkeyRefusedStatuses',
  'passkeyHints',
  'passkeyRelatedOrigins',
] as const;

/** Every field of `changed` that contradicts another; contradictions of unchanged fields are not reported. */
export function settingsFaults(
  wanted: RealmSettingsDto,
  { baseUrl, changed }: { baseUrl: string; changed: readonly string[] },
): FieldError[] {
  const faults: FieldError[] = [];
  const refuse = (message: string, ...fields: (keyof RealmSettingsDto)[]) => {
    for (const path of fields) if (changed.includes(path)) faults.push({ path, message });
  };
  const { riskMediumThreshold: medium, riskHighThreshold: high, issuer } = wanted;
  if (medium > high)
    refuse(
      `riskMediumThreshold (${medium}) must not exceed riskHighThreshold (${high})`,
      'riskMediumThreshold',
      'riskHighThreshold',
    );
  if (hasHiddenCharacters(wanted.displayName)) refuse(HIDES, 'displayName');
  if (!wanted.supportedLocales.includes(wanted.defaultLocale))
    refuse(
      `defaultLocale (${wanted.defaultLocale}) must be one of supportedLocales`,
      'defaultLocale',
      'supportedLocales',
    );
  for (const list of uniqueLists)
    if (new Set(wanted[list]).size < wanted[list].length) refuse('names one thing twice', list);
  if (wanted.declaredOnly.includes(ALL_CONFIGURATION) && wanted.declaredOnly.length > 1)
    refuse(`${ALL_CONFIGURATION} is all configuration: name no section beside it`, 'declaredOnly');
  if (wanted.customCss !== null && closesMore(wanted.customCss))
    refuse('closes a brace that it did not open: it stands in a layer of its own', 'customCss');
  if (wanted.subjectStrategy === 'attribute' && wanted.subjectAttribute === null)
    refuse('subjectStrategy attribute needs subjectAttribute', 'subjectStrategy', 'subjectAttribute');
  if (wanted.profile !== null && wanted.realmId === MASTER)
    refuse('must be null in master, whose administrators’ program is a public client', 'profile');
  for (const { message } of authorityFaults('tlsClientAuthAuthorities', wanted.tlsClientAuthAuthorities))
    refuse(message, 'tlsClientAuthAuthorities');
  for (const { path, message } of passkeyFaults(wanted, baseUrl)) refuse(message, path);
  const at = { baseUrl, realm: wanted.realmId };
  const against = issuer === null ? undefined : againstIssuer(issuer, at);
  if (against !== undefined) refuse(against, 'issuer');
  for (const resource of wanted.resourceIndicators)
    if (isAnothers(resource, at)) refuse(anothersResource(resource), 'resourceIndicators');
  return faults;
}

/** Whether the CSS has a closing brace too many, which would end the block around it. */
function closesMore(css: string): boolean {
  const plain = css.replaceAll(
    /\/\*[\s\S]*?(?:\*\/|$)|\\[\s\S]|"(?:\\[\s\S]|[^"\\\n])*["\n]?|'(?:\\[\s\S]|[^'\\\n])*['\n]?/g,
    '',
  );
  let open = 0;
  return [...plain.matchAll(/[{}]/g)].some(([brace]) => {
    open += brace === '{' ? 1 : -1;
    return open < 0;
  });
}

/**
 * The issuer's fault. Discovery 1.0 §3, RFC 8414 §3.3: an issuer uses https, has normal form, and belongs to one
 * authorization server.
 */
function againstIssuer(issuer: string, at: RealmAt): string | undefined {
  const { href, protocol, hostname, username, password } = new URL(issuer);
  if (/[?#]/.test(issuer)) return 'must have neither query nor fragment';
  // Otherwise a client that resolves `{base_url}/realms/mine/../other` would get another realm's issuer.
  if ((href !== issuer && href !== `${issuer}/`) || username !== '' || password !== '')
    return 'must be written as a URL parser writes it: lower-case host, no default port, no . or .. in its path';
  if (protocol !== 'https:' && !loopbackHosts.has(hostname))
    return 'must be https; http is for a loopback address alone';
  return isAnothers(issuer, at) ? 'is this server’s, and not this realm’s own' : undefined;
}
