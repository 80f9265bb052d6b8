// An admin role: its fields, and its permissions as a table of areas.
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { PageProps } from '../page.ts';
import { Holders } from './holders.tsx';
import { PermissionTable } from './permission-table.tsx';

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export default function AdminRolePage({ params }: PageProps) {
  const entry = kindInSection('adminRoles');
  if (!entry) return null;
  return (
    <KindDetail
      entry={entry}
      params={params}
      extras={{
        tabs: (row) => [
          {
            id: 'permissions',
            label: 'Permissions by area',
            content: () => <PermissionTable realm={params.realm} held={textsOf(row.permissions)} />,
          },
          {
            id: 'holders',
            label: 'Holders',
            content: () => <Holders realm={params.realm} id={String(row.id)} />,
          },
        ],
      }}
    />
  );
}
