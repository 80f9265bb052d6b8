// The declarations of a realm: managers and drift, holds, the history of applied plans, comparison.
import { useMay } from '../../api/session.ts';
import { getAdoption, listHistory, listHolds, listManagers } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { type Tab, Tabs } from '../../ui/tabs.tsx';
import type { PageProps } from '../page.ts';
import { AdoptionOf } from './adoption.tsx';
import { Compare } from './compare.tsx';
import { History } from './history.tsx';
import { Holds } from './holds.tsx';
import { Managers } from './managers.tsx';

export default function Declared({ params: { realm } }: PageProps) {
  const may = useMay();
  const { get } = useFilters();
  const tabs: Tab[] = [
    ...(may(realm, 'managers:read')
      ? [{ id: 'managers', label: 'Managers', content: () => <Managers realm={realm} /> }]
      : []),
    ...(may(realm, 'holds:read') ? [{ id: 'holds', label: 'Holds', content: () => <Holds realm={realm} /> }] : []),
    ...(may(realm, 'realm:read')
      ? [
          { id: 'history', label: 'History', content: () => <History realm={realm} /> },
          { id: 'compare', label: 'Compare', content: () => <Compare realm={realm} /> },
          { id: 'adoption', label: 'Adoption', content: () => <AdoptionOf realm={realm} /> },
        ]
      : []),
  ];
  const chosen = tabs.find(({ id }) => id === get('tab')) ?? tabs[0];
  return (
    <Page
      title="Declared and history"
      lead="What Git, pipelines and the operator keep as declared in this realm, and each document that was applied."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={<AsCommand commands={() => commandsOf(chosen?.id, realm)} />}
    >
      <Tabs label="Declared and history" tabs={tabs} />
    </Page>
  );
}

function commandsOf(tab: string | undefined, realm: string): Commands {
  const name = word(realm);
  if (tab === 'holds') return { realmctl: `realmctl get holds -r ${name}`, curl: curlOf(listHolds, { realm }) };
  if (tab === 'history') return { realmctl: `realmctl history ${name}`, curl: curlOf(listHistory, { realm }) };
  if (tab === 'adoption') return { realmctl: `realmctl managers allow ${name}`, curl: curlOf(getAdoption, { realm }) };
  if (tab === 'compare') return { realmctl: `realmctl export ${name} --no-users > ${name}.json` };
  return { realmctl: `realmctl managers ${name}`, curl: curlOf(listManagers, { realm }) };
}
