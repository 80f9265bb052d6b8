// The grants of one holder, as lines that are added and removed, and saved together.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useRealms } from '../../api/realms.ts';
import { MASTER, useMay } from '../../api/session.ts';
import {
  getClientAdminRoles,
  getUserAdminRoles,
  listAdminRoles,
  putClientAdminRoles,
  putUserAdminRoles,
} from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { same } from '../../kinds/form.tsx';
import { Review } from '../../kinds/review.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Note } from '../../ui/state.tsx';
import { actionsColumn, Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import type { GrantsAnswer, Holder } from './grants.tsx';

const EVERY_REALM = '*';
const MOST = 1000;
type Grant = NonNullable<GrantsAnswer['body']>['grants'][number];
const idOf = ({ role, realm }: Grant): string => `${role} ${realm}`;
const realmWords = (realm: string): string => (realm === EVERY_REALM ? 'every realm' : realm);

export function GrantForm({
  realm,
  holder,
  read,
  onStale,
}: {
  realm: string;
  holder: Holder;
  read: GrantsAnswer;
  onStale: () => void;
}) {
  const may = useMay();
  const isWriter = may(realm, 'admin-roles:write');
  // not the newest answer: a refetch must not change what the reader began with
  const [base, setBase] = useState(read);
  const before = base.body?.grants ?? [];
  const [grants, setGrants] = useState<readonly Grant[]>(before);
  const [review, setReview] = useState(false);
  const ofUser = useWrite(putUserAdminRoles);
  const ofClient = useWrite(putClientAdminRoles);
  const save = holder.is === 'user' ? ofUser : ofClient;
  const isChanged = !same(grants, before);
  const isStale = save.error?.is('precondition-failed') ?? false;
  const body = { grants: [...grants] };
  const headers = base.etag === undefined ? {} : { headers: { 'if-match': base.etag } };
  const options = {
    onSuccess: (answer: GrantsAnswer) => {
      setBase(answer);
      setGrants(answer.body?.grants ?? []);
      setReview(false);
      say('Saved the grants.');
    },
    onError: () => setReview(false),
  };
  const write = () =>
    holder.is === 'user'
      ? ofUser.mutate({ params: { realm, userId: holder.id }, body, ...headers }, options)
      : ofClient.mutate({ params: { realm, id: holder.id }, body, ...headers }, options);
  const commands = () => {
    const params = holder.is === 'user' ? { realm, userId: holder.id } : { realm, id: holder.id };
    const [get, put] =
      holder.is === 'user' ? [getUserAdminRoles, putUserAdminRoles] : [getClientAdminRoles, putClientAdminRoles];
    return { curl: isChanged ? curlOf(put, params, body) : curlOf(get, params) };
  };
  return (
    <div className="stack">
      <Panel
        title="Grants"
        plain
        actions={
          <>
            <AsCommand quiet commands={commands} />
            {isWriter && (
              <Button
                variant="primary"
                isDisabled={!isChanged}
                onPress={() => {
                  save.reset();
                  setReview(true);
                }}
              >
                Review and save
              </Button>
            )}
          </>
        }
      >
        {isStale && (
          <Note tone="warn" live>
            <span>Another administrator changed these grants meanwhile.</span>
            <span>
              <Button small onPress={onStale}>
                Show them as they are now
              </Button>
            </span>
          </Note>
        )}
        {save.error && !isStale && (
          <Note tone="bad" live>
            <strong>{save.error.problem?.title ?? 'It was refused.'}</strong>
            <span>{save.error.message}</span>
          </Note>
        )}
        {grants.length === 0 ? (
          <Empty icon="key" title="No admin role is granted">
            <p>{holder.is === 'user' ? 'The user' : 'The client'} is no administrator of any realm.</p>
          </Empty>
        ) : (
          <Table<Grant>
            label="Grants"
            rows={grants}
            idOf={idOf}
            columns={[
              { id: 'role', head: 'admin role', cell: ({ role }) => <bdi>{role}</bdi> },
              { id: 'realm', head: 'over', cell: ({ realm: over }) => <bdi>{realmWords(over)}</bdi> },
              ...actionsColumn(isWriter, (grant: Grant) => (
                <Button
                  small
                  variant="danger"
                  aria-label={`Take away: ${grant.role} over ${realmWords(grant.realm)}`}
                  onPress={() => setGrants(grants.filter((one) => idOf(one) !== idOf(grant)))}
                >
                  Take away
                </Button>
              )),
            ]}
          />
        )}
      </Panel>
      {isWriter && <AddGrant realm={realm} taken={grants} onAdd={(grant) => setGrants([...grants, grant])} />}
      {review && (
        <Review
          title="Save the grants"
          realm={realm}
          document={undefined}
          changes={{ grants: grants.map(({ role, realm: over }) => `${role}, over ${realmWords(over)}`) }}
          before={{ grants: before.map(({ role, realm: over }) => `${role}, over ${realmWords(over)}`) }}
          save="Save"
          onSave={write}
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={commands}
        />
      )}
    </div>
  );
}

function AddGrant({ realm, taken, onAdd }: { realm: string; taken: readonly Grant[]; onAdd: (grant: Grant) => void }) {
  const roles = useRead(listAdminRoles, { params: { realm }, query: { limit: MOST } });
  const realms = useRealms();
  const [role, setRole] = useState<string | null>(null);
  const [over, setOver] = useState<string | null>(realm);
  const isMaster = realm === MASTER;
  const grant = role !== null && over !== null ? { role, realm: over } : undefined;
  const isTaken = grant !== undefined && taken.some((one) => idOf(one) === idOf(grant));
  return (
    <Panel title="Give an admin role" lead="You can give the permissions that you hold yourself">
      <div className="stack">
        <Select
          label="Admin role"
          value={role}
          onChange={setRole}
          isDisabled={!roles.data}
          options={(roles.data?.body ?? []).map(({ name }) => ({ id: name, label: name }))}
          fault={isTaken ? 'This grant is there already.' : undefined}
        />
        {isMaster && (
          <Select
            label="Over"
            value={over}
            onChange={setOver}
            options={[
              { id: EVERY_REALM, label: 'Every realm' },
              ...(realms.data?.body ?? []).map(({ realm: id, displayName }) => ({
                id,
                label: id,
                ...(displayName && displayName !== id && { help: displayName }),
              })),
            ]}
          />
        )}
        <div>
          <Button
            icon="add"
            isDisabled={!grant || isTaken}
            onPress={() => {
              if (grant) onAdd(grant);
              setRole(null);
            }}
          >
            Add the grant
          </Button>
        </div>
      </div>
    </Panel>
  );
}
