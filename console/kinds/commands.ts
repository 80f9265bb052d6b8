// The content of a page for `realmctl`, curl and Git.
import { address } from '../../server/contract/call.ts';
import type { Callable } from '../api/light.ts';
import { endHold } from '../generated/routes.ts';
import type { Commands } from '../ui/as-command.tsx';
import type { KindEntry, Row } from './entry.ts';
import { kindNow, type ObjectAddress, paramsOf } from './loaded.ts';
import { nameOf } from './pages.tsx';
import { jsonText, jsonWord, realmctl as realmctlOf, word } from './shell-words.ts';

/** A request with a token of the same administrator. */
export function curlOf({ method, path }: Callable, params: Row, body?: unknown, query?: Row): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}-H "Authorization: Bearer $(realmctl token)" \\`,
    ...(body === undefined ? [] : [`  -H 'content-type: application/json' -d ${jsonWord(body)} \\`]),
    `  ${word(location.origin + address(path, params, query))}`,
  ];
  return lines.join('\n');
}

/** A request for both programs, where no other command of realmctl makes it. */
export function requestCommands(route: Callable, params: Row, body?: unknown, query?: Row): Commands {
  const asked = `realmctl api ${route.method} ${word(address(route.path, params, query))}`;
  return {
    realmctl: body === undefined ? asked : `${asked} -f - <<'END'\n${jsonText(body)}\nEND`,
    curl: curlOf(route, params, body, query),
  };
}

/** The end of a hold. */
export const endCommands = (realm: string, id: string): Commands => ({
  realmctl: realmctlOf('unhold', [id], `-r ${word(realm)}`),
  curl: curlOf(endHold, { realm, id }),
});

/** Several requests, one after the other. */
export const allCommands = (requests: readonly Commands[]): Commands => ({
  realmctl: requests.map(({ realmctl }) => realmctl).join('\n'),
  curl: requests.map(({ curl }) => curl).join('\n\n'),
});

const API_VERSION = 'realmkeeper.dev/v1alpha1';

/** A Realm resource with the given section, as the realm's document has it. */
export async function realmManifest(realm: string, spec: Row): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({
    apiVersion: API_VERSION,
    kind: 'Realm',
    metadata: { name: realm },
    spec: { realm, ...withoutSecrets(spec) },
  });
}

/** Lists that the API writes as one text, and resources as lists. */
const LISTS: ReadonlySet<string> = new Set(['eventTypes', 'scopes']);
/** An object's fields as its own resource declares them. */
export const specOf = ({ secret: _, id: __, ...fields }: Row): Row =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      LISTS.has(name) && typeof value === 'string' ? value.split(/[\s,]+/).filter((one) => one !== '') : value,
    ]),
  );

/** A resource of a kind of its own: a Webhook, a WorkloadIdentity. */
async function ownManifest(kind: string, realm: string, fields: Row): Promise<string> {
  const { stringify } = await import('yaml');
  const spec = specOf(fields);
  const name = String(spec.name ?? spec.alias ?? `${realm}-${kind}`);
  const dns = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return stringify({
    apiVersion: API_VERSION,
    kind,
    metadata: { name: dns || kind.toLowerCase() },
    spec: { realm, ...spec },
  });
}

/** The manifest that declares an object. @param document the object as a document has it */
export function manifestOf(entry: KindEntry, realm: string, document: Row | undefined): Promise<string> | undefined {
  if (document === undefined || entry.resource === null) return undefined;
  if (entry.resource === 'Realm') return realmManifest(realm, document);
  const [object] = Object.values(document).flat();
  return typeof object === 'object' && object !== null ? ownManifest(entry.resource, realm, { ...object }) : undefined;
}

export async function listCommands(entry: KindEntry, realm: string): Promise<Commands> {
  const { routes } = await kindNow(entry);
  const example = Object(routes.create?.example ?? routes.upsert?.example);
  const manifest = entry.ofClient ? undefined : await manifestOf(entry, realm, { [entry.section]: [example] });
  return {
    realmctl: `realmctl get ${entry.noun} --realm ${word(realm)}`,
    curl: curlOf(routes.list, { realm }),
    ...(manifest !== undefined && { manifest }),
  };
}

/** @param declared the object as a document declares it, if a document can */
export async function objectCommands(
  entry: KindEntry,
  address: ObjectAddress,
  row: Row,
  declared: Row | undefined,
): Promise<Commands> {
  const { routes } = await kindNow(entry);
  const manifest = await manifestOf(entry, address.realm, declared);
  const { realm } = address;
  return {
    realmctl: realmctlOf(`get ${entry.noun}`, [nameOf(entry, row)], `--realm ${word(realm)}`, '-o yaml'),
    ...(routes.get && { curl: curlOf(routes.get, paramsOf(entry, address)) }),
    ...(manifest !== undefined && { manifest }),
  };
}

/** The creation of an object. */
export async function createCommands(
  entry: KindEntry,
  realm: string,
  of: string | undefined,
  body: Row,
  document: Row | undefined,
): Promise<Commands> {
  const { routes } = await kindNow(entry);
  const manifest = await manifestOf(entry, realm, document);
  const route = routes.create ?? routes.upsert;
  return {
    ...(route && requestCommands(route, { realm, ...(of !== undefined && { clientId: of }) }, withoutSecrets(body))),
    ...(document && { realmctl: documentCommand(realm, document) }),
    ...(manifest !== undefined && { manifest }),
  };
}

/** A change of some of its fields. */
export async function editCommands(
  entry: KindEntry,
  address: ObjectAddress,
  body: Row,
  document: Row | undefined,
): Promise<Commands> {
  const { routes } = await kindNow(entry);
  const manifest = await manifestOf(entry, address.realm, document);
  const { realm } = address;
  const request = routes.put
    ? requestCommands(routes.put, paramsOf(entry, address), withoutSecrets(body))
    : routes.upsert && requestCommands(routes.upsert, { realm }, withoutSecrets(body));
  return {
    ...request,
    ...(document && { realmctl: documentCommand(realm, document) }),
    ...(manifest !== undefined && { manifest }),
  };
}

/** `realmctl import` of a document on its standard input. */
export const documentCommand = (realm: string, document: Row): string =>
  `realmctl import ${word(realm)} -f - <<'END'\n${jsonText(withoutSecrets(document))}\nEND`;

export const isSecretName = (name: string): boolean => /^(secret|password)$|secret$/i.test(name);
/** A command is copied and sent around: a secret that was typed is left out of it. */
export function withoutSecrets<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutSecrets) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      name,
      isSecretName(name) && typeof of === 'string' ? '<secret>' : withoutSecrets(of),
    ]),
  ) as T;
}
