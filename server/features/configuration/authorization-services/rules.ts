// Rules across the parts of one client's authorization services: unique names, existing names, no cycles. Pure.
import type { AuthorizationPolicy, AuthorizationService, ItemList } from '../../../contract/authorization-services.ts';
import { itemLists } from '../../../contract/authorization-services.ts';
import type { FieldError } from '../../../contract/problem.ts';

export type Services = Omit<AuthorizationService, 'clientId'>;

/** A field in which items name others of the same client. */
interface Use {
  list: ItemList;
  index: number;
  /** The item that names the others. */
  by: string;
  field: string;
  named: { list: ItemList; name: string };
}

const use = (
  list: ItemList,
  field: string,
  of: ItemList,
  { name, index }: { name: string; index: number },
  names: readonly string[] = [],
) => names.map((named): Use => ({ list, index, by: name, field, named: { list: of, name: named } }));

const usesIn = ({ resources, policies, permissions }: Services): Use[] => [
  ...resources.flatMap(({ name, scopes }, index) => use('resources', 'scopes', 'scopes', { name, index }, scopes)),
  ...policies.flatMap(({ name, config }, index) =>
    use('policies', 'config.policies', 'policies', { name, index }, config.policies),
  ),
  ...permissions.flatMap(({ name, ...named }, index) =>
    (['resources', 'scopes', 'policies'] as const).flatMap((of) =>
      use('permissions', of, of, { name, index }, named[of]),
    ),
  ),
];

const one: Record<ItemList, string> = {
  resources: 'resource',
  scopes: 'scope',
  policies: 'policy',
  permissions: 'permission',
};

/** The items that name this one, as text: `the permission view`. */
export const usersOf = (services: Services, list: ItemList, name: string): string[] =>
  usesIn(services)
    .filter(
      ({ named, list: by, by: who }) => named.list === list && named.name === name && !(by === list && who === name),
    )
    .map(({ list: by, by: who }) => `the ${one[by]} ${who}`);

function repeated(services: Services): FieldError[] {
  return itemLists.flatMap((list) => {
    const seen = new Set<string>();
    return services[list].flatMap(({ name }, index) => {
      if (seen.has(name)) return [{ path: `${list}[${index}].name`, message: `there are two of the name ${name}` }];
      seen.add(name);
      return [];
    });
  });
}

function missing(services: Services): FieldError[] {
  const there = Object.fromEntries(itemLists.map((list) => [list, new Set(services[list].map(({ name }) => name))]));
  return usesIn(services).flatMap(({ list, index, field, named }) =>
    there[named.list]?.has(named.name)
      ? []
      : [{ path: `${list}[${index}].${field}`, message: `the client has no ${one[named.list]} ${named.name}` }],
  );
}

/** Cycles of aggregates, each once, as text: `a → b → a`. */
export function circlesOf(policies: readonly AuthorizationPolicy[]): string[][] {
  const within = new Map(policies.map(({ name, config }) => [name, config.policies ?? []]));
  const done = new Set<string>();
  const circles: string[][] = [];
  for (const start of within.keys()) {
    // Without recursion: a chain may be as long as the list.
    const path: { name: string; next: number }[] = [];
    const on = new Map<string, number>();
    const enter = (name: string) => {
      on.set(name, path.length);
      path.push({ name, next: 0 });
    };
    if (!done.has(start)) enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const name = within.get(top.name)?.[top.next++];
      if (name === undefined) {
        done.add(top.name);
        on.delete(top.name);
        path.pop();
        continue;
      }
      const from = on.get(name);
      if (from !== undefined) circles.push([...path.slice(from).map((step) => step.name), name]);
      else if (!done.has(name)) enter(name);
    }
  }
  return circles;
}

export function faultsOf(services: Services): FieldError[] {
  const { policies } = services;
  const circles = circlesOf(policies).map((circle) => ({
    path: `policies[${policies.findIndex(({ name }) => name === circle[0])}].config.policies`,
    message: `must not come back to itself: ${circle.join(' → ')}`,
  }));
  return [...repeated(services), ...missing(services), ...circles];
}
