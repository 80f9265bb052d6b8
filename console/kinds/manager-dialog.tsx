// All that the console knows of an object's managers: where each is declared, which fields it declares, how to change them there.

import { inRealm } from '../shell/addresses.ts';
import { Chips } from '../ui/badge.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Facts, Panel } from '../ui/page.tsx';
import { fieldsOf, type Managed } from './managed.tsx';
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
  onClose,
}: {
  managed: Managed;
  realm: string;
  onClose: () => void;
}) {
  const managers = [...new Set(managed.values())];
  return (
    <Dialog
      title={managers.length === 1 ? 'Its manager' : 'Its managers'}
      isOpen
      onClose={onClose}
      size="wide"
      footer={<ButtonLink to={inRealm(realm, 'declared')}>All that is declared</ButtonLink>}
    >
      <p className="soft">
        What a manager declares returns with its next run. Change it where it is declared, or place a hold to change it
        here for a while.
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
