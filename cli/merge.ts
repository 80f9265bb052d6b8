// Owns: one document of a realm out of many pieces, and what contradicts itself in them.
// Does not own: the pieces (declared.ts).
// Implements: issue "CLI": what is declared in one run is one manager's, so nothing may be said twice.
import type { RealmDocument } from '../server/contract/transfer.ts';
import { type Part, shownPath } from './declared.ts';
import type { FileFault, Path } from './files.ts';

/** What names an object within its section. */
const keyFields = {
  clientScopes: 'name',
  roles: 'name',
  flows: 'alias',
  clients: 'clientId',
  adminRoles: 'name',
  serviceAccountRoles: 'clientId',
  groups: 'path',
  webhooks: 'name',
  workloadIdentity: 'name',
  users: 'username',
} as const;
const keyField = new Map<string, string>(Object.entries(keyFields));
const words = new Map([
  ['realm', 'the setting'],
  ['clientScopes', 'the client scope'],
  ['roles', 'the role'],
  ['flows', 'the flow'],
  ['clients', 'the client'],
  ['clientRoles', 'the client role'],
  ['adminRoles', 'the admin role'],
  ['serviceAccountRoles', 'the service account’s roles of'],
  ['groups', 'the group'],
  ['webhooks', 'the webhook'],
  ['workloadIdentity', 'the workload identity'],
  ['users', 'the user'],
  ['resourceIndicators', 'the resource indicator'],
]);

export interface Merged {
  realm: string;
  document: RealmDocument;
  /** Where a path of the document (`flows[0].executions[1]`) stands in the files. */
  placeOf(path: string): Omit<FileFault, 'message'> | undefined;
}

type Lists = Record<string, unknown>;

export function merge(parts: readonly Part[]): { realms: Merged[]; faults: FileFault[] } {
  const byRealm = byName(parts);
  const faults: FileFault[] = [];
  const realms = [...byRealm]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([realm, ofRealm]) => ({ realm, ...mergeRealm(ofRealm, faults) }));
  return { realms, faults };
}

function byName(parts: readonly Part[]): Map<string, Part[]> {
  const found = new Map<string, Part[]>();
  for (const part of parts) found.set(part.realm, [...(found.get(part.realm) ?? []), part]);
  return found;
}

function mergeRealm(parts: readonly Part[], faults: FileFault[]): Omit<Merged, 'realm'> {
  const merged: Lists = {};
  /** `flows 0`, `clientRoles app 0`, `realm requireMfa` → where that came from. */
  const origins = new Map<string, { part: Part; path: Path }>();
  const first = new Map<string, { part: Part; path: Path; value: unknown }>();
  /** False, and a fault, where the name is there already. */
  const claim = (part: Part, section: string, name: string, path: Path, value: unknown): boolean => {
    const before = first.get(`${section} ${name}`);
    if (!before) {
      first.set(`${section} ${name}`, { part, path, value });
      return true;
    }
    faults.push(twice({ section, name, path, value, part }, before));
    return false;
  };
  for (const part of parts) for (const [section, value] of Object.entries(part.document)) add(part, section, value);

  function add(part: Part, section: string, value: unknown): void {
    const field = keyField.get(section);
    if (Array.isArray(value)) {
      const kept = [...list(merged[section])];
      for (const [index, one] of value.entries()) {
        const name = field === undefined ? one : Object(one)[field];
        if (!claim(part, section, String(name), [section, index], one)) continue;
        origins.set(`${section} ${kept.length}`, { part, path: [section, index] });
        kept.push(one);
      }
      merged[section] = kept;
    } else if (section === 'clientRoles') {
      const roles: Record<string, unknown[]> = { ...Object(merged[section]) };
      for (const [clientId, ofClient] of Object.entries(Object(value))) {
        const kept = list(ofClient).filter((role, index) =>
          claim(part, section, `${clientId}/${String(Object(role).name)}`, [section, clientId, index], role),
        );
        roles[clientId] = [...(roles[clientId] ?? []), ...kept];
      }
      merged[section] = roles;
    } else {
      const kept = Object.entries(Object(value)).filter(([name, one]) =>
        claim(part, section, name, [section, name], one),
      );
      for (const [name] of kept) origins.set(`${section} ${name}`, { part, path: [section, name] });
      merged[section] = { ...Object(merged[section]), ...Object.fromEntries(kept) };
    }
  }
  return {
    document: merged satisfies Lists as RealmDocument, // its pieces were parsed, and each went to where it came from
    placeOf(text) {
      const [section = '', name = '', ...rest] = (text.match(/[^.[\]]+/g) ?? []).map((step) =>
        /^\d+$/.test(step) ? Number(step) : step,
      );
      const origin = origins.get(`${section} ${name}`);
      if (!origin) return undefined;
      const { item, object, pathOf } = origin.part;
      const at = pathOf([...origin.path, ...rest]);
      return { file: item.file, line: item.lineOf(at), document: item.document, object, path: shownPath(at) };
    },
  };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

interface Claim {
  section: string;
  name: string;
  path: Path;
  value: unknown;
  part: Part;
}
function twice({ section, name, path, value, part }: Claim, before: Omit<Claim, 'section' | 'name'>): FileFault {
  const at = part.pathOf(path);
  const { item, object } = part;
  const other = before.part.item.lineOf(before.part.pathOf(before.path));
  const same = JSON.stringify(value) === JSON.stringify(before.value);
  const where = `${before.part.item.file}${other === undefined ? '' : `:${other}`}`;
  return {
    file: item.file,
    line: item.lineOf(at),
    document: item.document,
    object,
    path: shownPath(at),
    message: `${words.get(section) ?? section} ${name} is declared ${same ? 'twice' : 'otherwise before'}, at ${where}`,
  };
}
