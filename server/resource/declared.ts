// Owns: the resource of a kind that is declared as a whole (contract/kind.ts), from what is left to say of it: its columns and rules.
// Does not own: what a resource is made of (resource.ts), which kinds there are (contract/declared-kinds.ts).
// Implements: design "A plain resource: one declaration".
import type { declaredKinds } from '../contract/declared-kinds.ts';
import { apart } from '../contract/kind.ts';
import type { Passwords } from '../crypto/passwords.ts';
import type { Seal } from '../crypto/seal.ts';
import { sealed } from './at-rest.ts';
import { type Declaration, type Resource, resource } from './resource.ts';
import type { TableOptions } from './table.ts';

/** What resources are made with. */
export interface ResourceDeps {
  seal: Seal;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  now: () => Date;
}

type DeclaredKind = (typeof declaredKinds)[keyof typeof declaredKinds];
type Left = Omit<Declaration, 'section' | 'wire' | 'routes' | 'table'> & {
  table: Omit<TableOptions, 'name' | 'key' | 'secrets'>;
};

/** Where a kind's objects are kept, and how what is sealed is bound to their rows: `scim_target`, `scim-target`. */
export const tableOf = (kind: string): string => apart(kind, '_');
export const sealedAs = (kind: string): string => apart(kind, '-');

export function declaredResource(
  { section, kind, wire, routes, searches, needed, entry }: DeclaredKind,
  left: Left,
  { seal, now }: Pick<ResourceDeps, 'seal' | 'now'>,
): Resource {
  const secrets = entry.secrets.map((field) => [field, sealed(seal, sealedAs(kind), apart(field, '_'))]);
  const table = { ...left.table, name: tableOf(kind), secrets: Object.fromEntries(secrets) };
  const rest = { required: needed, ...(searches && { search: [entry.key] }), ...left };
  return resource({ ...rest, section, wire, routes, table }, { now });
}
