// The groups of a realm as a tree. Searching asks the server, and shows what it finds with its path.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Collection } from 'react-aria-components/Collection';
import { Tree, TreeItem, TreeItemContent } from 'react-aria-components/Tree';
import { type ConsoleAnswer, call, type ServerProblem } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { listGroups } from '../../generated/routes.ts';
import { kindInSection, leadOf } from '../../kinds/all.ts';
import { listCommands } from '../../kinds/commands.ts';
import { DeclaredOnlyNote, useLock } from '../../kinds/declared-only.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { RowLink } from '../../ui/row-link.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { type Group, type GroupNode, groupTree, withChildren } from './group-tree.ts';

const PAGE_ROWS = 500;
const ROLES_SHOWN = 3;

export default function GroupsPage({ params: { realm } }: PageProps) {
  const may = useMay();
  const filters = useFilters();
  const q = filters.get('q');
  const entry = kindInSection('groups');
  const groups = useInfiniteQuery<ConsoleAnswer<Group[]>, ServerProblem, Group[], unknown[], string | undefined>({
    queryKey: [realm, 'group-tree', q],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) =>
      call(listGroups, {
        params: { realm },
        query: { limit: PAGE_ROWS, ...(q !== '' && { q }), ...(pageParam !== undefined && { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => (nextCursor === undefined ? undefined : decodeURIComponent(nextCursor)),
    select: ({ pages }) => pages.flatMap(({ body }) => body ?? []),
  });
  const rows = groups.data;
  const isWriter = may(realm, 'groups:write');
  const lock = useLock(realm, 'groups', { kind: 'group' });
  const create = isWriter && (
    <ButtonLink to={inRealm(realm, 'groups', 'new')} variant="primary" icon="add">
      {lock.isLocked ? 'Write a declaration' : 'Create a group'}
    </ButtonLink>
  );
  const commands = entry && <AsCommand commands={() => listCommands(entry, realm)} />;
  return (
    <Page
      title="Groups"
      {...(entry && { lead: leadOf(entry) })}
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          {commands}
          {create}
        </>
      }
    >
      <div className="list">
        <DeclaredOnlyNote realm={realm} section="groups" kind="group" many="groups" write="groups:write" />
        <div className="list-tools">
          <Find label="Find groups" value={q} onChange={(text) => filters.set({ q: text })} />
        </div>
        {groups.error && <ProblemNote problem={groups.error} retry={() => void groups.refetch()} />}
        {!rows ? (
          !groups.error && (
            <div className="table-box">
              <Loading lines={6} />
            </div>
          )
        ) : rows.length === 0 ? (
          <div className="panel">
            {q === '' ? (
              <Empty icon="group" title="There are no groups yet" actions={create}>
                <p>Groups form a tree; their members have the roles and attributes that a group gives.</p>
                <p>In Git, a group is declared in the field groups of a Realm resource.</p>
              </Empty>
            ) : (
              <Empty icon="search" title="No group matches">
                <p>The search looks in the paths for “{q}”.</p>
              </Empty>
            )}
          </div>
        ) : (
          <GroupTree key={q} realm={realm} nodes={groupTree(rows)} isOpen={q !== ''} />
        )}
        {groups.hasNextPage && (
          <div className="pager">
            <span>{rows?.length.toLocaleString('en')} groups are shown</span>
            <Button small isDisabled={groups.isFetchingNextPage} onPress={() => void groups.fetchNextPage()}>
              {groups.isFetchingNextPage ? 'Loading…' : 'Show more groups'}
            </Button>
          </div>
        )}
      </div>
    </Page>
  );
}

function GroupTree({ realm, nodes, isOpen }: { realm: string; nodes: readonly GroupNode[]; isOpen: boolean }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(isOpen ? withChildren(nodes) : []));
  const inner = withChildren(nodes);
  const isAllOpen = inner.every((id) => open.has(id));
  const row = (node: GroupNode) => (
    <GroupRow node={node} to={inRealm(realm, 'groups', node.id)}>
      <Collection items={node.children}>{row}</Collection>
    </GroupRow>
  );
  return (
    <div className="table-box">
      {inner.length > 0 && (
        <div className="flow-tools">
          <Button small variant="quiet" onPress={() => setOpen(new Set(isAllOpen ? [] : inner))}>
            {isAllOpen ? 'Close all' : 'Open all'}
          </Button>
        </div>
      )}
      <Tree<GroupNode>
        aria-label="Groups"
        className="tree"
        items={nodes}
        expandedKeys={open}
        onExpandedChange={(keys) => setOpen(new Set([...keys].map(String)))}
      >
        {row}
      </Tree>
    </div>
  );
}

function GroupRow({ node, to, children }: { node: GroupNode; to: string; children: React.ReactNode }) {
  const { group, label } = node;
  return (
    <TreeItem id={node.id} textValue={label} href={to} className="tree-row linked">
      <TreeItemContent>
        {({ hasChildItems, isExpanded }) => (
          <div className="tree-line">
            {hasChildItems ? (
              <AriaButton
                slot="chevron"
                className="tree-chevron"
                data-open={isExpanded || undefined}
                aria-label={isExpanded ? 'Close the group' : 'Open the group'}
              >
                <Icon name="chevron" size={14} />
              </AriaButton>
            ) : (
              <span className="tree-chevron" />
            )}
            <span className="step-words">
              <RowLink to={to}>
                <bdi>{label}</bdi>
              </RowLink>
              {node.children.length > 0 && <span className="soft small">{node.children.length} inside</span>}
            </span>
            <span className="tree-end">
              {group.default && <Badge tone="info">each new user joins it</Badge>}
              {group.roles.length > 0 && <Chips items={group.roles} most={ROLES_SHOWN} />}
            </span>
          </div>
        )}
      </TreeItemContent>
      {children}
    </TreeItem>
  );
}
