// What a page shows, for `realmctl`, curl and Git.
import { address } from '../../server/contract/call.ts';
import type { Callable } from '../api/light.ts';
import type { Commands } from '../ui/as-command.tsx';
import type { KindEntry, Row } from './entry.ts';
import { kindNow, type ObjectAddress, paramsOf } from './loaded.ts';
import { nameOf } from './pages.tsx';

/** As one word of a shell. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A request with a token of the same administrator. */
export function curlOf({ method, path }: Callable, params: Row, body?: unknown, query?: Row): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}-H "Authorization: Bearer $(realmctl token)" \\`,
    ...(body === undefined
      ? []
      : [`  -H 'content-type: application/json' -d ${single(JSON.stringify(body, null, 2))} \\`]),
    `  ${word(location.origin + address(path, params, query))}`,
  ];
  return lines.join('\n');
}

const API_VERSION = 'realmkeeper.dev/v1alpha1';

/** A Realm resource with the given section, as the realm's document has it. */
export async function realmManifest(realm: string, spec: Row): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({ apiVersion: API_VERSION, kind: 'Realm', metadata: { name: realm }, spec: { realm, ...spec } });
}

export async function listCommands(entry: KindEntry, realm: string): Promise<Commands> {
  const { routes } = await kindNow(entry);
  const example = Object(routes.create?.example ?? routes.upsert?.example);
  return {
    realmctl: `realmctl get ${entry.noun} --realm ${word(realm)}`,
    curl: curlOf(routes.list, { realm }),
    ...(entry.resource === 'Realm' &&
      !entry.ofClient && { manifest: await realmManifest(realm, { [entry.section]: [example] }) }),
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
  const { realm } = address;
  return {
    realmctl: `realmctl get ${entry.noun} ${word(nameOf(entry, row))} --realm ${word(realm)} -o yaml`,
    ...(routes.get && { curl: curlOf(routes.get, paramsOf(entry, address)) }),
    ...(declared && entry.resource === 'Realm' && { manifest: await realmManifest(realm, declared) }),
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
  const route = routes.create ?? routes.upsert;
  return {
    ...(document && { realmctl: documentCommand(realm, document) }),
    ...(route && { curl: curlOf(route, { realm, ...(of !== undefined && { clientId: of }) }, withoutSecrets(body)) }),
    ...(document && entry.resource === 'Realm' && { manifest: await realmManifest(realm, withoutSecrets(document)) }),
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
  const { realm } = address;
  const curl = routes.put
    ? curlOf(routes.put, paramsOf(entry, address), withoutSecrets(body))
    : routes.upsert && curlOf(routes.upsert, { realm }, withoutSecrets(body));
  return {
    ...(document && { realmctl: documentCommand(realm, document) }),
    ...(curl !== undefined && { curl }),
    ...(document && entry.resource === 'Realm' && { manifest: await realmManifest(realm, withoutSecrets(document)) }),
  };
}

/** `realmctl import` of a document on its standard input. */
export const documentCommand = (realm: string, document: Row): string =>
  `realmctl import ${word(realm)} -f - <<'END'\n${JSON.stringify(withoutSecrets(document), null, 2)}\nEND`;

const isSecret = (name: string): boolean => /^(secret|password)$|secret$/i.test(name);
/** A command is copied and sent around: a secret that was typed is left out of it. */
function withoutSecrets<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutSecrets) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      name,
      isSecret(name) && typeof of === 'string' ? '<secret>' : withoutSecrets(of),
    ]),
  ) as T;
}
