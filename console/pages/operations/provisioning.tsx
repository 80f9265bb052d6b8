// Provisioning to a SCIM target: what is in step, what waits, what the target refused; sending everything again.
import { useState } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listScimTargetObjects, listScimTargets } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Facts, Panel } from '../../ui/page.tsx';
import { LOOK_SECONDS, PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, Note } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ReconcileDialog } from './reconcile.tsx';
import { Which } from './which.tsx';

type Target = OutputOf<typeof listScimTargets>[number];
type Provisioned = OutputOf<typeof listScimTargetObjects>[number];

const states = ['failed', 'waiting', 'inStep'] as const;
const tones = { failed: 'bad', waiting: 'info', inStep: 'good' } as const;
const words = { failed: 'Refused there', waiting: 'Waiting', inStep: 'In step' } as const;

export function Provisioning({ realm }: { realm: string }) {
  const may = useMay();
  const [reconciled, setReconciled] = useState<Target>();
  const targets = useRead(
    listScimTargets,
    { params: { realm }, query: { limit: 1000 } },
    { everySeconds: LOOK_SECONDS },
  );
  const mayList = may(realm, 'users:read') && may(realm, 'groups:read');
  return (
    <>
      <Which<Target>
        name="target"
        label="SCIM target"
        read={targets}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        none={
          <Empty
            icon="plug"
            title="There are no SCIM targets"
            actions={<ButtonLink to={inRealm(realm, 'scim-targets')}>SCIM targets</ButtonLink>}
          >
            <p>Users and groups are provisioned to SCIM targets; what each of them has is listed here.</p>
          </Empty>
        }
        actions={(target) => (
          <>
            {may(realm, 'scim-targets:write') && (
              <Button isDisabled={!target.enabled} onPress={() => setReconciled(target)}>
                Send everything again…
              </Button>
            )}
            <Link href={inRealm(realm, 'scim-targets', target.id)}>Settings of the target</Link>
          </>
        )}
      >
        {(target) => (
          <>
            <Status target={target} />
            {mayList ? (
              <Objects realm={realm} id={target.id} />
            ) : (
              <Note>Listing the users and groups needs the permissions users:read and groups:read.</Note>
            )}
          </>
        )}
      </Which>
      {reconciled && (
        <ReconcileDialog realm={realm} target={reconciled} mayLook={mayList} onClose={() => setReconciled(undefined)} />
      )}
    </>
  );
}

const count = (of: number | null) =>
  of === null ? <span className="none">not counted</span> : of.toLocaleString('en');

function Status({ target: { status, enabled } }: { target: Target }) {
  if (!enabled) return <Note tone="warn">The target is disabled: nothing is sent there.</Note>;
  if (status === null) return <Note>Nothing was sent there yet.</Note>;
  return (
    <>
      {status.lastError !== null && (
        <Note tone="warn">
          <strong>The last answer of the target:</strong>
          <bdi>{status.lastError}</bdi>
        </Note>
      )}
      <Panel plain>
        <Facts
          facts={[
            { name: 'In step', value: count(status.inStep) },
            { name: 'Waiting', value: count(status.waiting) },
            { name: 'Refused there', value: count(status.failed) },
            { name: 'Last run', value: <Time ms={status.lastRunAt} /> },
          ]}
        />
      </Panel>
    </>
  );
}

function Objects({ realm, id }: { realm: string; id: string }) {
  const { get, set } = useFilters();
  const state = states.find((one) => one === get('state'));
  const cursor = get('cursor') || undefined;
  const objects = useRead(
    listScimTargetObjects,
    {
      params: { realm, id },
      query: { limit: PAGE_ROWS, ...(state && { state }), ...(cursor !== undefined && { cursor }) },
    },
    { keep: true, everySeconds: LOOK_SECONDS },
  );
  const columns: TableColumn<Provisioned>[] = [
    {
      id: 'name',
      head: 'name',
      cell: (row) =>
        row.name === null ? (
          <span className="none">deleted here</span>
        ) : (
          <Link href={inRealm(realm, row.kind === 'user' ? 'users' : 'groups', row.id)}>
            <bdi>{row.name}</bdi>
          </Link>
        ),
    },
    { id: 'kind', head: 'kind', cell: ({ kind }) => kind },
    {
      id: 'state',
      head: 'state',
      cell: (row) => <Badge tone={tones[row.state]}>{words[row.state].toLowerCase()}</Badge>,
    },
    {
      id: 'error',
      head: 'answer of the target',
      cell: ({ error }) => (error === null ? <span className="none">none</span> : <bdi className="small">{error}</bdi>),
    },
    { id: 'attempts', head: 'refused', numeric: true, cell: ({ attempts }) => attempts },
    {
      id: 'next',
      head: 'next try',
      cell: ({ nextTryAt }) => (nextTryAt === null ? <span className="none">none</span> : <Time ms={nextTryAt} />),
    },
    {
      id: 'remote',
      head: 'ID there',
      cell: ({ remoteId }) =>
        remoteId === null ? <span className="none">not there yet</span> : <code>{remoteId}</code>,
    },
  ];
  return (
    <>
      <div className="list-tools">
        <Select
          label="State"
          hideLabel
          value={state ?? null}
          none="In any state"
          options={states.map((one) => ({ id: one, label: words[one] }))}
          onChange={(chosen) => set({ state: chosen ?? undefined, cursor: undefined })}
        />
      </div>
      <Paged
        label="Users and groups of the target"
        read={objects}
        columns={columns}
        idOf={(row) => `${row.kind} ${row.id}`}
        empty={
          <Empty icon="check" title={state ? 'Nothing is in this state' : 'Nothing goes to this target'}>
            <p>The settings of the target say which users and groups go there.</p>
          </Empty>
        }
      />
    </>
  );
}
