// Translates Keycloak's roles, groups and organizations, without Keycloak's own roles. docs/keycloak.md.
import { escapedGroupName, shownGroupPath } from '../../../../domain/group-names.ts';
import { isOwnClient } from './clients.ts';
import { type Group, isCatalogued, type Organization, type Realm, type Role } from './export-shape.ts';
import type { Notes } from './notes.ts';

/** Whether a client's roles are carried over: clients of OpenID Connect that aren't Keycloak's own. */
export type KnownClient = (clientId: string) => boolean;

export interface RoleNames {
  [clientId: string]: string[];
}

/**
 * Roles of carried-over clients. Roles for Keycloak's realm administration are reported. Roles for its account console
 * are dropped, because every user has these rights here.
 */
export function clientRolesOf(
  roles: RoleNames | undefined,
  known: KnownClient,
  tell: (field: string, why: string) => void,
): RoleNames {
  const kept: RoleNames = {};
  for (const [clientId, names] of Object.entries(roles ?? {})) {
    if (names.length === 0) continue;
    if (known(clientId)) kept[clientId] = [...new Set(names)].sort();
    else if (clientId === 'realm-management' || clientId.endsWith('-realm'))
      tell(`clientRoles.${clientId}`, `${names.join(', ')}: who administers is said by admin roles here`);
    else if (clientId !== 'account' && clientId !== 'broker')
      tell(`clientRoles.${clientId}`, `${names.join(', ')}: the client isn’t carried over as one that has roles`);
  }
  return kept;
}

export function rolesOf({ realm: key, roles, defaultRole, defaultRoles }: Realm, known: KnownClient, notes: Notes) {
  const one = (role: Role, client?: string) => {
    const { name, description, composites, attributes } = role;
    const tell = (field: string, why: string) =>
      notes.add(
        { kind: client === undefined ? 'role' : 'clientRole', key: client ? `${client}/${name}` : name, field },
        why,
      );
    const clientRoles = clientRolesOf(composites?.client, known, tell);
    const isDefault = client === undefined && (name === defaultRole?.name || defaultRoles?.includes(name) === true);
    return {
      name,
      ...(description !== undefined && !isCatalogued(description) && { description }),
      composite: {
        ...(composites?.realm && composites.realm.length > 0 && { roles: [...new Set(composites.realm)].sort() }),
        ...(Object.keys(clientRoles).length > 0 && { clientRoles }),
      },
      ...(isDefault && { default: true }),
      ...(attributes && Object.keys(attributes).length > 0 && { attributes }),
    };
  };
  const clientRoles = Object.entries(roles?.client ?? {}).flatMap(([clientId, theirs]) => {
    if (theirs.length === 0) return [];
    if (known(clientId))
      return [[clientId, firsts(theirs, clientId, notes).map((role) => one(role, clientId))] as const];
    if (!isOwnClient(clientId, key))
      notes.add({ kind: 'client', key: clientId, field: 'roles' }, 'only clients of OpenID Connect have roles here');
    return [];
  });
  const translated = {
    roles: (roles?.realm ?? []).map((role) => one(role)),
    clientRoles: Object.fromEntries(clientRoles),
  };
  openCircles(translated, notes);
  return translated;
}

interface Composite {
  roles?: string[];
  clientRoles?: RoleNames;
}
/** Of several roles with the same name, the first counts. */
function firsts(roles: readonly Role[], clientId: string, notes: Notes): Role[] {
  const names = new Set<string>();
  return roles.filter(({ name }, i) => {
    const isFirst = !names.has(name);
    names.add(name);
    if (!isFirst)
      notes.add({ kind: 'clientRole', key: clientId, below: `[${i}]` }, `${name} is there twice: the first counts`);
    return isFirst;
  });
}

interface RoleNode {
  at: { kind: string; key: string };
  composite: Composite;
}
interface TranslatedRoles {
  roles: { name: string; composite: Composite }[];
  clientRoles: Record<string, { name: string; composite: Composite }[]>;
}

/** Breaks cycles of composite roles: the last role of the cycle, in the file's order, no longer contains the next. */
function openCircles({ roles, clientRoles }: TranslatedRoles, notes: Notes): void {
  const nodes = new Map<string, RoleNode>();
  /** Of several roles with the same name, the first counts. */
  const put = (id: string, node: RoleNode) => void (nodes.has(id) || nodes.set(id, node));
  const nodeOf = (name: string, clientId = '') => JSON.stringify([clientId, name]);
  for (const { name, composite } of roles) put(nodeOf(name), { at: { kind: 'role', key: name }, composite });
  for (const [clientId, theirs] of Object.entries(clientRoles))
    for (const { name, composite } of theirs)
      put(nodeOf(name, clientId), { at: { kind: 'clientRole', key: `${clientId}/${name}` }, composite });
  const state = new Map<string, 'open' | 'done'>();
  const insideOf = ({ roles: its = [], clientRoles: theirs = {} }: Composite) => [
    ...its.map((name) => ({ name, clientId: undefined })),
    ...Object.entries(theirs).flatMap(([clientId, names]) => names.map((name) => ({ name, clientId }))),
  ];
  // without recursion: a file can nest roles to any depth
  for (const start of nodes.keys()) {
    if (state.has(start)) continue;
    const way = [{ id: start, inside: insideOf(nodes.get(start)?.composite ?? {}), next: 0 }];
    state.set(start, 'open');
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const child = top.inside[top.next];
      top.next += 1;
      if (!child) {
        state.set(top.id, 'done');
        way.pop();
        continue;
      }
      const id = nodeOf(child.name, child.clientId);
      const node = nodes.get(id);
      if (node && !state.has(id)) {
        state.set(id, 'open');
        way.push({ id, inside: insideOf(node.composite), next: 0 });
      } else if (state.get(id) === 'open') leave(nodes.get(top.id), child);
    }
  }

  function leave(from: RoleNode | undefined, child: { name: string; clientId: string | undefined }): void {
    if (!from) return;
    const { at, composite } = from;
    const { name, clientId } = child;
    const field = clientId === undefined ? 'composites.realm' : `composites.client.${clientId}`;
    notes.add(
      { ...at, field, below: `${field}.${name}` },
      `${name} contains this role: the roles would contain each other`,
    );
    const without = (names: readonly string[] = []) => names.filter((one) => one !== name);
    if (clientId === undefined) composite.roles = without(composite.roles);
    else composite.clientRoles = { ...composite.clientRoles, [clientId]: without(composite.clientRoles?.[clientId]) };
  }
}

/** Flat, parents first. */
export function groupsOf({ groups = [], defaultGroups = [] }: Realm, known: KnownClient, notes: Notes) {
  const defaults = new Set(defaultGroups.map((path) => path.replaceAll('~/', '/')));
  const below = (parent: string, siblings: readonly Group[]): Record<string, unknown>[] => {
    const names = new Map<string, string>();
    return siblings.flatMap((group) => {
      const path = `${parent}/${escapedGroupName(group.name)}`;
      const tell = (field: string | undefined, why: string) => notes.add({ kind: 'group', key: path, field }, why);
      const other = names.get(path.toLowerCase());
      // The same path twice is reported by fit.ts.
      if (other !== undefined && other !== path) {
        tell(undefined, `differs from the group ${other} in case only: rename one of the two`);
        return [];
      }
      names.set(path.toLowerCase(), path);
      const clientRoles = clientRolesOf(group.clientRoles, known, tell);
      return [
        {
          path,
          roles: [...new Set(group.realmRoles ?? [])].sort(),
          clientRoles,
          attributes: { ...group.attributes, ...(group.description && { description: [group.description] }) },
          ...(defaults.has(shownGroupPath(path)) && { default: true }),
        },
        ...below(path, group.subGroups ?? []),
      ];
    });
  };
  return below('', groups);
}

/** Organizations by their alias, which tokens name. A member is carried over only if the username is known. */
export function organizationsOf(organizations: readonly Organization[], notes: Notes) {
  return organizations.map((organization) => {
    const { name, alias, description, enabled, attributes, domains, identityProviders, members } = organization;
    const key = alias || name;
    const note = (field: string, why: string) => notes.add({ kind: 'organization', key, field }, why);
    if (organization.redirectUrl) note('redirectUrl', 'users are not sent there here');
    if ((organization.groups ?? []).length > 0) note('groups', 'groups are the realm’s here');
    const names = (members ?? []).flatMap(({ username }) => username ?? []);
    if (names.length < (members ?? []).length) note('members', 'some are named by ids alone: add them by hand');
    return {
      name: key,
      ...(key !== name && { displayName: name }),
      enabled: enabled ?? true,
      domains: (domains ?? []).map((domain) => ({
        name: domain.name.toLowerCase(),
        verified: domain.verified ?? false,
      })),
      identityProviders: (identityProviders ?? []).flatMap((provider) => provider.alias ?? []),
      attributes: { ...attributes, ...(description && { description: [description] }) },
      ...(names.length > 0 && { members: names }),
    };
  });
}
