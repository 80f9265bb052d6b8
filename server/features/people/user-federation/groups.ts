// Owns: the groups of a directory: created below one group of the realm, with the directory's users as members.
// Does not own: writing groups (resource/write.ts) and members (features/people/users), reading them (sync.ts, sign-in.ts).
// Implements: decisions "User federation", "Group".
import { GroupPath } from '../../../contract/groups.ts';
import type { Tx } from '../../../db/transact.ts';
import { byDirectory } from '../../../domain/directories.ts';
import { dnKey } from '../../../domain/distinguished-name.ts';
import { escapedGroupName } from '../../../domain/group-names.ts';
import { changeOf } from '../../../resource/change.ts';
import type { Resource } from '../../../resource/resource.ts';
import { writeChanges } from '../../../resource/write.ts';
import { lockPaths } from '../groups/resource.ts';
import type { FromDirectoryWriter } from '../users/from-directory.ts';
import type { Entry, Session } from './connection.ts';
import { stableId } from './entry.ts';
import * as store from './store.ts';

export interface FoundGroup {
  external: string;
  dn: string;
  name: string;
  /** Distinguished names in canonical form, or usernames in lower case. */
  members: string[];
}
export type Failure = store.SyncProgress['failures'][number];

/** The path of the realm's group that holds the directory's groups. */
const rootOf = ({ alias, groups }: Pick<store.Directory, 'alias' | 'groups'>): string =>
  groups?.below === '/' ? '' : (groups?.below ?? `/${alias}`);

export const groupAttributes = ({ users, groups }: store.Directory): string[] =>
  groups ? [users.uuidAttribute, groups.nameAttribute, groups.memberAttribute] : [];

/** The key of a member: its distinguished name, or its username. */
const memberKey = (value: string): string => (value.includes('=') ? dnKey(value) : value.toLowerCase());

/** Reads a group from an entry. @returns the group, or why the entry is none */
export async function groupOf(
  directory: store.Directory,
  session: Session,
  entry: Entry,
): Promise<FoundGroup | Failure> {
  const { nameAttribute = '', memberAttribute = '' } = directory.groups ?? {};
  const external = stableId(directory, entry);
  const name = entry.values(nameAttribute)[0]?.trim();
  const fault = (message: string): Failure => ({ entry: entry.dn, message });
  if (external === undefined) return fault(`has no ${directory.users.uuidAttribute} that can be its stable id`);
  if (name === undefined || name === '') return fault(`${nameAttribute} is missing`);
  return {
    external,
    dn: entry.dn,
    name: escapedGroupName(name),
    members: (await session.whole(entry, memberAttribute)).map(memberKey),
  };
}

/** `/a/b` → `/a`, `/a/b` */
const prefixes = (path: string): string[] =>
  path.split('/').flatMap((_, i, parts) => (i === 0 ? [] : [parts.slice(0, i + 1).join('/')]));

export function createDirectoryGroups({
  groups,
  people,
  newId,
}: {
  groups: Resource;
  people: Pick<FromDirectoryWriter, 'setGroups'>;
  newId: () => string;
}) {
  /**
   * Creates the missing groups of `paths` and the groups above them. A group whose path differs in case only is that group.
   * @returns ids by path
   */
  async function made(
    tx: Tx,
    { realm, alias }: store.Directory,
    paths: readonly string[],
  ): Promise<Map<string, string>> {
    const needed = [...new Set(paths.flatMap(prefixes))];
    let there = await store.groupsAt(tx.sql, realm, needed);
    if (needed.some((path) => !there.has(path))) {
      await lockPaths(tx.sql, realm);
      there = await store.groupsAt(tx.sql, realm, needed);
    }
    const placeOf = (path: string): string => {
      const cut = path.lastIndexOf('/');
      return there.get(path)?.path ?? (cut === 0 ? '' : placeOf(path.slice(0, cut))) + path.slice(cut);
    };
    const missing = new Map(
      needed.filter((path) => !there.has(path)).map((path) => [path.toLowerCase(), placeOf(path)]),
    );
    const changes = [...missing.values()].flatMap(
      (key) => changeOf(groups, realm, { key, there: undefined, wanted: {} }) ?? [],
    );
    if (changes.length > 0)
      await writeChanges(tx, { realm, by: byDirectory(alias), written: 'byServer', parts: [groups], changes, newId });
    const now = changes.length > 0 ? await store.groupsAt(tx.sql, realm, needed) : there;
    return new Map([...now].map(([path, { id }]) => [path, id]));
  }

  return {
    /**
     * @param sync the sync that read these groups
     * @param names paths that belong to other entries already
     */
    async write(
      tx: Tx,
      directory: store.Directory,
      found: readonly FoundGroup[],
      { sync, names }: { sync: string; names: Set<string> },
    ): Promise<Failure[]> {
      const failures: Failure[] = [];
      const stableIds = new Set<string>();
      const good = found.flatMap((group) => {
        const path = `${rootOf(directory)}/${group.name}`;
        const isAgain = stableIds.has(group.external);
        stableIds.add(group.external);
        const problem = isAgain
          ? 'another group has the same stable id'
          : !GroupPath.safeParse(path).success
            ? 'has a name that no group can have here'
            : names.has(path.toLowerCase())
              ? 'has a name that another group has, too'
              : undefined;
        if (problem !== undefined) failures.push({ entry: group.dn, message: problem });
        else names.add(path.toLowerCase());
        return problem === undefined ? [{ ...group, path }] : [];
      });
      if (good.length === 0) return failures;
      const ids = await made(
        tx,
        directory,
        good.map(({ path }) => path),
      );
      const filled = good.map((group) => ({ ...group, groupId: ids.get(group.path) ?? '' }));
      const left = await store.linkGroups(tx.sql, directory.realm, directory.id, sync, filled);
      await people.setGroups(tx, directory, {
        groups: [...filled.map(({ groupId }) => groupId), ...left],
        members: filled.flatMap(({ groupId, members }) => members.map((key) => ({ group: groupId, key }))),
      });
      return failures;
    },

    /** Removes the directory's users from groups that a full sync has not seen. */
    async forget(tx: Tx, directory: store.Directory, sync: string): Promise<void> {
      const gone = await store.unseenGroups(tx.sql, directory.realm, directory.id, sync);
      if (gone.length > 0) await people.setGroups(tx, directory, { groups: gone, members: [] });
    },

    /** Makes a user who signs in a member of exactly these groups of the directory. */
    async ofPerson(
      tx: Tx,
      directory: store.Directory,
      { id, key }: { id: string; key: string },
      found: readonly FoundGroup[],
    ): Promise<void> {
      const once = new Map(found.map((group) => [group.external, group]));
      const good = [...once.values()].flatMap((group) => {
        const path = `${rootOf(directory)}/${group.name}`;
        return !GroupPath.safeParse(path).success ? [] : [{ ...group, path }];
      });
      const ids = await made(
        tx,
        directory,
        good.map(({ path }) => path),
      );
      const filled = good.map((group) => ({ ...group, groupId: ids.get(group.path) ?? '' }));
      if (filled.length > 0) await store.linkGroups(tx.sql, directory.realm, directory.id, null, filled);
      const all = await store.groupsOf(tx.sql, directory.realm, directory.id);
      await people.setGroups(tx, directory, {
        groups: all,
        members: filled.map(({ groupId }) => ({ group: groupId, key })),
        of: id,
      });
    },
  };
}
export type DirectoryGroups = ReturnType<typeof createDirectoryGroups>;
