// Chooses the object whose runs a tab shows. The choice is in the address; without one, the first is shown.
import type { ReactNode } from 'react';
import type { ServerProblem } from '../../api/client.ts';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';

export function Which<T>({
  name,
  label,
  read,
  idOf,
  nameOf,
  none,
  actions,
  children,
}: {
  /** In the address. */
  name: string;
  label: string;
  read: { data: { body: T[] | undefined } | undefined; error: ServerProblem | null; refetch: () => unknown };
  idOf: (one: T) => string;
  nameOf: (one: T) => string;
  /** The content if there is nothing to choose from. */
  none: ReactNode;
  actions?: (chosen: T) => ReactNode;
  children: (chosen: T) => ReactNode;
}) {
  const { get, set } = useFilters();
  if (read.error && !read.data) return <ProblemNote problem={read.error} retry={() => void read.refetch()} />;
  if (!read.data) return <Loading lines={5} />;
  const all = read.data.body ?? [];
  const chosen = all.find((one) => idOf(one) === get(name)) ?? all[0];
  if (chosen === undefined) return <Panel>{none}</Panel>;
  return (
    <div className="list">
      <div className="list-tools">
        <Select
          label={label}
          hideLabel
          value={idOf(chosen)}
          options={all.map((one) => ({ id: idOf(one), label: nameOf(one) }))}
          onChange={(id) => set({ [name]: id ?? undefined, cursor: undefined })}
        />
        {actions && <div className="spread">{actions(chosen)}</div>}
      </div>
      {children(chosen)}
    </div>
  );
}
