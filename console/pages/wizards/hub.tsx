// The list of wizards of a realm. Each ends with something that works.
import { Link } from 'wouter';
import { useMay } from '../../api/session.ts';
import { exportRealm } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { WIZARDS } from './frame.tsx';
import { wizards } from './wizards.ts';

export default function SetUp({ params: { realm } }: PageProps) {
  const may = useMay();
  const allowed = wizards.filter(({ permissions }) => permissions.some((permission) => may(realm, permission)));
  return (
    <Page
      title="Set up"
      lead="Each of these asks for what it needs, shows the server’s plan, and ends with a test."
      narrow
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl export ${word(realm)} --no-users -o yaml`,
            curl: curlOf(exportRealm, { realm }),
          })}
        />
      }
    >
      {allowed.length === 0 && <Note>You hold none of the permissions that these need.</Note>}
      <ul className="choice-cards">
        {allowed.map(({ path, title, help, icon }) => (
          <li key={path}>
            <Link href={inRealm(realm, WIZARDS, path)} className="choice-card">
              <span className="row">
                <Icon name={icon} />
                <strong>{title}</strong>
              </span>
              <span className="soft small">{help}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  );
}
