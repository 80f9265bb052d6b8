// An admin role: its fields, its permissions as a table of areas, and the users and clients that hold it.
import { detailWith } from '../../kinds/detail.tsx';
import { Holders } from './holders.tsx';
import { PermissionTable } from './permission-table.tsx';

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export default detailWith('adminRoles', ({ realm }) => ({
  tabs: (row) => [
    {
      id: 'permissions',
      label: 'Permissions by area',
      content: () => <PermissionTable realm={realm} held={textsOf(row.permissions)} />,
    },
    { id: 'holders', label: 'Holders', content: () => <Holders realm={realm} id={String(row.id)} /> },
  ],
}));
