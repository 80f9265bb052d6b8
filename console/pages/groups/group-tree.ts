// Groups as a tree, from their paths. A group whose parent was not read stands at the top with its whole path.
import type { OutputOf } from '../../api/client.ts';
import type { listGroups } from '../../generated/routes.ts';

export type Group = OutputOf<typeof listGroups>[number];
export interface GroupNode {
  id: string;
  group: Group;
  /** Its name, or its path where its parent is not shown. */
  label: string;
  children: GroupNode[];
}

export function groupTree(groups: readonly Group[]): GroupNode[] {
  const nodes = new Map<string, GroupNode>(
    groups.map((group) => [group.id, { id: group.id, group, label: group.name, children: [] }]),
  );
  const top: GroupNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.group.parentId === null ? undefined : nodes.get(node.group.parentId);
    if (parent) parent.children.push(node);
    else {
      if (node.group.parentId !== null) node.label = node.group.path;
      top.push(node);
    }
  }
  return top;
}

export const withChildren = (nodes: readonly GroupNode[]): string[] =>
  nodes.flatMap(({ id, children }) => (children.length === 0 ? [] : [id, ...withChildren(children)]));
