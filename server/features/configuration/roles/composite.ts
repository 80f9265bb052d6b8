// A composite's canonical form, for storing, responses and comparisons; and the roles that would contain themselves.
// Pure. Decisions "Role".
import { Composite } from '../../../contract/roles.ts';
import { clientRoleKey } from '../../../resource/items.ts';
import type { Fields, Item, Reference } from '../../../resource/part.ts';

interface CanonicalComposite {
  roles: string[];
  clientRoles: Record<string, string[]>;
}
const sorted = (names: readonly string[] = []): string[] => [...new Set(names)].sort();

/** Both parts explicit, names sorted and without duplicates; clients without roles are left out. */
export const canonicalComposite = ({ roles, clientRoles }: Composite): CanonicalComposite => ({
  roles: sorted(roles),
  clientRoles: Object.fromEntries(
    Object.entries(clientRoles ?? {})
      .filter(([, names]) => names.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([clientId, names]) => [clientId, sorted(names)]),
  ),
});

/** The roles that a role's fields contain. */
export const compositeOf = ({ composite }: Fields): Composite => {
  const parsed = Composite.safeParse(composite);
  return parsed.success ? parsed.data : {};
};

export function refersTo({ fields }: Pick<Item, 'fields'>): Reference[] {
  const { roles = [], clientRoles = {} } = compositeOf(fields);
  return [
    ...roles.map((key) => ({ kind: 'role', key, path: 'composite.roles' })),
    ...Object.entries(clientRoles).flatMap(([clientId, names]) =>
      names.map((role) => ({
        kind: 'clientRole',
        key: clientRoleKey(clientId, role),
        path: `composite.clientRoles.${clientId}`,
      })),
    ),
  ];
}

type Ties = ReadonlyMap<string, readonly string[]>;

/** Roles that would contain themselves, given what each contains. */
export function inCircles(children: Ties): Set<string> {
  const parents = new Map<string, string[]>();
  for (const [role, inside] of children)
    for (const child of inside) {
      const known = parents.get(child);
      if (known) known.push(role);
      else parents.set(child, [role]);
    }
  // A role that contains none of these roles is in no cycle, nor is one that none of them contains.
  const endless = withoutEnds(new Set([...children.keys(), ...parents.keys()]), children, parents);
  return withoutEnds(endless, parents, children);
}

function withoutEnds(roles: Set<string>, onward: Ties, back: Ties): Set<string> {
  const ways = new Map([...roles].map((role) => [role, (onward.get(role) ?? []).filter((to) => roles.has(to)).length]));
  const ends = [...roles].filter((role) => ways.get(role) === 0);
  for (const end of ends) {
    roles.delete(end);
    for (const from of back.get(end) ?? []) {
      const left = (ways.get(from) ?? 0) - 1;
      ways.set(from, left);
      if (left === 0 && roles.has(from)) ends.push(from);
    }
  }
  return roles;
}
