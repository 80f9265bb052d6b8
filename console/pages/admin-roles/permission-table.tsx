// Every permission that there is, by area, and which of them are held.
import { useRead } from '../../api/queries.ts';
import { listPermissions } from '../../generated/routes.ts';
import { labelOf } from '../../kinds/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';

interface AreaRow {
  area: string;
  verbs: readonly string[];
}
const usual = ['read', 'write'];
const words = (name: string): string => labelOf(name.replaceAll('-', ' '));

export function PermissionTable({ realm, held }: { realm: string; held: readonly string[] }) {
  const permissions = useRead(listPermissions, { params: { realm } });
  if (permissions.error) return <ProblemNote problem={permissions.error} retry={() => void permissions.refetch()} />;
  if (!permissions.data) return <Loading lines={8} />;
  const verbs = new Map<string, string[]>();
  for (const permission of permissions.data.body ?? []) {
    const [area = '', verb = ''] = permission.split(':');
    verbs.set(area, [...(verbs.get(area) ?? []), verb]);
  }
  const rows: AreaRow[] = [...verbs].map(([area, own]) => ({ area, verbs: own }));
  const cell = (area: string, verb: string, isThere: boolean) =>
    !isThere ? null : held.includes(`${area}:${verb}`) ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>;
  return (
    <Table<AreaRow>
      label="Permissions by area"
      rows={rows}
      idOf={({ area }) => area}
      columns={[
        { id: 'area', head: 'area', cell: ({ area }) => words(area) },
        { id: 'read', head: 'read', cell: ({ area, verbs: own }) => cell(area, 'read', own.includes('read')) },
        { id: 'write', head: 'write', cell: ({ area, verbs: own }) => cell(area, 'write', own.includes('write')) },
        {
          id: 'more',
          head: 'more',
          cell: ({ area, verbs: own }) => (
            <span className="chips">
              {own
                .filter((verb) => !usual.includes(verb))
                .map((verb) => (
                  <Badge key={verb} {...(held.includes(`${area}:${verb}`) && { tone: 'good' as const })}>
                    {verb}: {held.includes(`${area}:${verb}`) ? 'yes' : 'no'}
                  </Badge>
                ))}
            </span>
          ),
        },
      ]}
    />
  );
}
