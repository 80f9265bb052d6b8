// Actions on the selected users, one request for each user and change.
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ActionMenu } from '../../ui/menu.tsx';
import { bulkActions } from './bulk-actions.ts';
import { count } from './words.ts';

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'));

/** @param users by id the username */
export function BulkBar({
  realm,
  users,
  onClear,
}: {
  realm: string;
  users: ReadonlyMap<string, string>;
  onClear: () => void;
}) {
  const may = useMay();
  const [chosen, setChosen] = useState<string>();
  const open = bulkActions.filter(({ permission, wholeRealm }) =>
    wholeRealm ? may(realm, permission) : may.partly(realm, permission),
  );
  const action = open.find(({ id }) => id === chosen);
  return (
    <section className="bulk" aria-label="Selection">
      <span role="status">{count(users.size, 'user')} selected</span>
      <ActionMenu
        label="Actions on the selected users"
        actions={open.map(({ id, label, icon, isDanger }) => ({
          id,
          label: `${label}…`,
          icon,
          ...(isDanger && { danger: true }),
          onAction: () => setChosen(id),
        }))}
      >
        <Button small>Actions</Button>
      </ActionMenu>
      <Button small variant="quiet" onPress={onClear}>
        Clear the selection
      </Button>
      {action && (
        <Suspense>
          <BulkDialog
            realm={realm}
            users={users}
            action={action}
            onClose={(isDone) => {
              setChosen(undefined);
              if (isDone) onClear();
            }}
          />
        </Suspense>
      )}
    </section>
  );
}
