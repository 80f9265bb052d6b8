// All that the console knows of an object's managers: where each is declared, which fields it declares, how to change them there,
// and the ways to change them nevertheless.
import { useState } from 'react';
import { useMay } from '../api/session.ts';
import { inRealm } from '../shell/addresses.ts';
import { Chips } from '../ui/badge.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Facts, Panel } from '../ui/page.tsx';
import { HoldDialog } from './hold-dialog.tsx';
import { fieldsOf, type Managed, type ManagedThing, useHolds } from './managed.tsx';
import { COPY_MODE } from './managed-ways.tsx';
import { clusterResource, kubectlEdit, kubectlGet } from './managers.ts';

export function ManagerFacts({ manager, fields }: { manager: string; fields: readonly string[] }) {
  const resource = clusterResource(manager);
  return (
    <div className="stack tight">
      <Facts
        facts={[
          ...(resource
            ? [
                { name: 'Cluster', value: <bdi>{resource.cluster}</bdi> },
                { name: 'Namespace', value: <bdi>{resource.namespace}</bdi> },
                { name: 'Kind', value: resource.kind },
                { name: 'Name', value: <bdi>{resource.name}</bdi> },
              ]
            : [{ name: 'Manager', value: <code>{manager}</code> }]),
          ...(fields.length > 0 ? [{ name: 'Declares', value: <Chips items={fields} /> }] : []),
        ]}
      />
      {resource && (
        <>
          <Code text={kubectlGet(resource)} label={`the command that shows ${resource.kind} ${resource.name}`} />
          <Code text={kubectlEdit(resource)} label={`the command that edits ${resource.kind} ${resource.name}`} />
        </>
      )}
    </div>
  );
}

export default function ManagerDialog({
  managed,
  realm,
  thing,
  onClose,
}: {
  managed: Managed;
  realm: string;
  thing: ManagedThing | undefined;
  onClose: () => void;
}) {
  const may = useMay();
  const [holds, setHolds] = useState(false);
  const holdOf = useHolds(realm, thing !== undefined);
  const mayHold = thing !== undefined && may(realm, 'holds:write') && may(realm, thing.write) && !holdOf(thing);
  if (thing && holds)
    return <HoldDialog realm={realm} things={[{ kind: thing.kind, key: thing.key }]} onClose={onClose} />;
  const managers = [...new Set(managed.values())];
  return (
    <Dialog
      title={managers.length === 1 ? 'Its manager' : 'Its managers'}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <>
          <ButtonLink to={inRealm(realm, 'declared')}>All that is declared</ButtonLink>
          {thing?.form !== undefined && may(realm, thing.write) && (
            <ButtonLink to={`${thing.form}?${COPY_MODE.name}=${COPY_MODE.value}`} icon="edit">
              Modify and copy
            </ButtonLink>
          )}
          {mayHold && (
            <Button icon="pin" onPress={() => setHolds(true)}>
              Hold…
            </Button>
          )}
        </>
      }
    >
      <p className="soft">
        What a manager declares returns with its next run. Change it where it is declared
        {mayHold && ', or place a hold to change it here for a while'}.
      </p>
      {managers.map((manager) => {
        const fields = fieldsOf(managed).filter((field) => managed.get(field) === manager);
        return (
          <Panel key={manager} {...(managers.length > 1 && { title: manager })} plain>
            <div className="content">
              <ManagerFacts manager={manager} fields={fields} />
            </div>
          </Panel>
        );
      })}
    </Dialog>
  );
}
