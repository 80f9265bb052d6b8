// Which managers may adopt the realm: declare it although another manager, or an administrator, made it.
import { type FormEvent, useState } from 'react';
import { type ConsoleAnswer, call, type OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getAdoption, putAdoption } from '../../generated/routes.ts';
import { same } from '../../kinds/form.tsx';
import { shortManager } from '../../kinds/managers.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { Button } from '../../ui/button.tsx';
import { ListField } from '../../ui/list-field.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

type Adoption = OutputOf<typeof getAdoption>;

export function AdoptionOf({ realm }: { realm: string }) {
  const adoption = useRead(getAdoption, { params: { realm } });
  if (adoption.error && !adoption.data)
    return <ProblemNote problem={adoption.error} retry={() => void adoption.refetch()} />;
  if (!adoption.data?.body) return <Loading lines={3} />;
  return <Form realm={realm} read={adoption.data} />;
}

function Form({ realm, read }: { realm: string; read: ConsoleAnswer<Adoption> }) {
  const may = useMay();
  const mayWrite = may(realm, 'realm:write');
  const [base, setBase] = useState(read);
  const before = base.body?.managers ?? [];
  const [managers, setManagers] = useState<readonly string[]>(before);
  const put = useWrite(putAdoption);
  const wanted = managers.map((name) => name.trim()).filter((name) => name !== '');
  const faults = faultsOf(put.error);
  const [fault] = [...faults].filter(([path]) => path.includes('managers')).map(([, message]) => message);
  const isStale = put.error?.is('precondition-failed') === true;
  const createdBy = base.body?.createdBy ?? '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    put.mutate(
      {
        params: { realm },
        body: { managers: wanted },
        ...(base.etag !== undefined && { headers: { 'if-match': base.etag } }),
      },
      {
        onSuccess: (answer) => {
          setBase(answer);
          setManagers(answer.body?.managers ?? []);
          say('Saved which managers may adopt the realm.');
        },
      },
    );
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {isStale ? (
        <Note tone="warn" live>
          <strong>Another administrator changed the list meanwhile.</strong>
          <span>
            <Button
              small
              onPress={() =>
                void call(getAdoption, { params: { realm } }).then((now) => {
                  setBase(now);
                  setManagers(now.body?.managers ?? []);
                  put.reset();
                })
              }
            >
              Show the list as it is now
            </Button>
          </span>
        </Note>
      ) : (
        put.error && <ProblemNote problem={put.error} quietFields={fault !== undefined} />
      )}
      <Panel title="Made by" plain>
        <Facts
          facts={[
            {
              name: 'Manager',
              value: createdBy === '' ? 'An administrator, or the server itself' : <bdi>{shortManager(createdBy)}</bdi>,
            },
          ]}
        />
      </Panel>
      <Panel
        title="May adopt it"
        lead="A manager that adopts the realm may change everything in it. Its resource then declares the realm."
      >
        <div className="stack">
          <ListField
            label="Managers"
            help={
              <>
                Names as in the list of managers; <code>*</code> is any run of characters:{' '}
                <code>k8s:prod/identity/*</code>.
              </>
            }
            item="manager"
            mono
            value={managers}
            onChange={setManagers}
            isDisabled={!mayWrite}
            fault={fault}
          />
          {mayWrite && (
            <div className="row end">
              <Button isDisabled={same(wanted, before)} onPress={() => setManagers(before)}>
                Discard
              </Button>
              <Button type="submit" variant="primary" isDisabled={same(wanted, before) || put.isPending}>
                {put.isPending ? 'Saving…' : 'Save'}
              </Button>
            </div>
          )}
        </div>
      </Panel>
    </form>
  );
}
