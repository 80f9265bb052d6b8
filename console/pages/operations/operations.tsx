// The server's own work for a realm, each part in a tab: health, deliveries, messages, provisioning, logouts, syncs, workloads.
import type { Permission } from '../../../server/contract/permissions.ts';
import { useMay } from '../../api/session.ts';
import {
  getRealmHealth,
  listAllDeliveries,
  listDeliveries,
  listDirectorySyncs,
  listEvents,
  listMessages,
  listScimTargetObjects,
} from '../../generated/routes.ts';
import { curlOf, requestCommands } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { type Tab, Tabs } from '../../ui/tabs.tsx';
import type { PageProps } from '../page.ts';
import { Deliveries } from './deliveries.tsx';
import { Happened } from './happened.tsx';
import { RealmHealth } from './health.tsx';
import { Messages } from './messages.tsx';
import { Provisioning } from './provisioning.tsx';
import { Syncs } from './syncs.tsx';

type Operation = Tab & { permission: Permission };

const all = (realm: string): readonly Operation[] => [
  { id: 'health', label: 'Health', permission: 'realm:read', content: () => <RealmHealth realm={realm} /> },
  { id: 'deliveries', label: 'Deliveries', permission: 'webhooks:read', content: () => <Deliveries realm={realm} /> },
  { id: 'messages', label: 'Messages', permission: 'messaging:read', content: () => <Messages realm={realm} /> },
  {
    id: 'provisioning',
    label: 'Provisioning',
    permission: 'scim-targets:read',
    content: () => <Provisioning realm={realm} />,
  },
  { id: 'syncs', label: 'Directory syncs', permission: 'user-federation:read', content: () => <Syncs realm={realm} /> },
  {
    id: 'logouts',
    label: 'Logouts',
    permission: 'events:read',
    content: () => (
      <Happened
        realm={realm}
        type="BACKCHANNEL_LOGOUT_FAILED"
        lead="Applications that the server could not tell of a logout, after all its tries. Their own sessions may still stand."
        empty="Each application was told of each logout"
      />
    ),
  },
  {
    id: 'workloads',
    label: 'Workloads',
    permission: 'events:read',
    content: () => (
      <Happened
        realm={realm}
        type="WORKLOAD_TOKEN_REFUSED"
        lead="Workloads whose token was refused. The caller learns no cause; it is here alone."
        empty="No workload was refused"
      />
    ),
  },
];

export default function Operations({ params: { realm } }: PageProps) {
  const may = useMay();
  const { get } = useFilters();
  const tabs = all(realm).filter(({ permission }) => may(realm, permission));
  const chosen = tabs.find(({ id }) => id === get('tab')) ?? tabs[0];
  return (
    <Page
      title="Operations"
      lead="What the server does by itself, and where it failed."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={<AsCommand commands={() => commandsOf(chosen?.id, realm, get)} />}
    >
      <Tabs label="Operations" tabs={tabs} />
    </Page>
  );
}

type Get = (name: string) => string;
const statusOf = (get: Get) => (get('status') ? { status: get('status') } : {});
const statusOption = (get: Get): string => (get('status') ? ` --status ${word(get('status'))}` : '');

/** The same elsewhere. An object that is not chosen yet stands as a word of its own. */
function commandsOf(tab: string | undefined, realm: string, get: (name: string) => string): Commands {
  const r = `-r ${word(realm)}`;
  switch (tab) {
    case 'deliveries':
      return {
        realmctl: `realmctl get deliveries ${r}${statusOption(get)}`,
        curl: get('webhook')
          ? curlOf(listDeliveries, { realm, id: get('webhook') }, undefined, statusOf(get))
          : curlOf(listAllDeliveries, { realm }, undefined, statusOf(get)),
      };
    case 'messages':
      return {
        realmctl: `realmctl get messages ${r}${statusOption(get)}`,
        curl: curlOf(listMessages, { realm }, undefined, statusOf(get)),
      };
    case 'provisioning':
      return requestCommands(listScimTargetObjects, { realm, id: get('target') || 'TARGET' });
    case 'syncs':
      return {
        realmctl: realmctl('sync directory', [get('directory') || 'DIRECTORY'], r),
        curl: curlOf(listDirectorySyncs, { realm, alias: get('directory') || 'DIRECTORY' }),
      };
    case 'logouts':
    case 'workloads': {
      const type = tab === 'logouts' ? 'BACKCHANNEL_LOGOUT_FAILED' : 'WORKLOAD_TOKEN_REFUSED';
      return {
        realmctl: `realmctl events ${r} --type ${type}`,
        curl: curlOf(listEvents, { realm }, undefined, { type }),
      };
    }
    default:
      return requestCommands(getRealmHealth, { realm });
  }
}
