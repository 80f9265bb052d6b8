// The reasons that keep an item from being deleted: the other items of the client that name it, each with the way to it.
import { Link } from 'wouter';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Note } from '../../ui/state.tsx';
import { itemKinds, type ListName, type Use } from './model.ts';

export function InUse({
  list,
  name,
  uses,
  onClose,
}: {
  list: ListName;
  name: string;
  uses: readonly Use[];
  onClose: () => void;
}) {
  const filters = useFilters();
  const { label } = itemKinds[list];
  return (
    <Dialog
      title={`${name} is in use`}
      isOpen
      onClose={onClose}
      alert
      footer={
        <Button variant="primary" onPress={onClose}>
          Close
        </Button>
      }
    >
      <Note tone="warn">
        <span>The {label} can be deleted when nothing names it. Take it out of:</span>
        <ul className="plain-list">
          {uses.map((use) => (
            <li key={`${use.list} ${use.name}`}>
              the {itemKinds[use.list].label}{' '}
              <Link href={filters.address({ tab: use.list, item: use.name, q: null })} onClick={onClose}>
                <bdi>{use.name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      </Note>
    </Dialog>
  );
}
