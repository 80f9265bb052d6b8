// The admin roles of a realm, and the grants of them to users and to clients' service accounts.
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { listCommands } from '../../kinds/commands.ts';
import { useLock } from '../../kinds/declared-only.tsx';
import { KindTable } from '../../kinds/list.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { PageProps } from '../page.ts';
import { Grants } from './grants.tsx';

export default function AdminRolesPage({ params: { realm } }: PageProps) {
  const may = useMay();
  const entry = kindInSection('adminRoles');
  const lock = useLock(realm, 'adminRoles', { kind: 'adminRole' });
  if (!entry) return null;
  return (
    <Page
      title="Admin roles"
      lead="Sets of permissions, and the users and clients that hold them."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand commands={() => listCommands(entry, realm)} />
          {may(realm, 'admin-roles:write') && (
            <ButtonLink to={inRealm(realm, 'admin-roles', 'new')} variant="primary" icon="add">
              {lock.isLocked ? 'Write a declaration' : 'Create an admin role'}
            </ButtonLink>
          )}
        </>
      }
    >
      <Tabs
        label="Admin roles"
        tabs={[
          { id: 'roles', label: 'Roles', content: () => <KindTable entry={entry} realm={realm} /> },
          { id: 'grants', label: 'Grants', content: () => <Grants realm={realm} /> },
        ]}
      />
    </Page>
  );
}
