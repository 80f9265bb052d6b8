// The realm's messages: what each is for, and the languages in which it has words of its own.
import { Link } from 'wouter';
import { messages, type TemplateKey } from '../../../server/contract/message-keys.ts';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { shortManager, WITH_MANAGERS } from '../../kinds/managers.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import type { PageProps } from '../page.ts';
import { LookPage, lookAddress } from './frame.tsx';
import { channelWords, purposes } from './message-words.ts';

type Template = OutputOf<typeof api.listMessageTemplates>[number];

export default function Templates({ params: { realm } }: PageProps) {
  const may = useMay();
  const templates = useRead(api.listMessageTemplates, { params: { realm }, query: { limit: 1000, ...WITH_MANAGERS } });
  const gateways = useRead(api.listMessagingProviders, { params: { realm } });
  const channels = new Set((gateways.data?.body ?? []).filter(({ enabled }) => enabled).map(({ channel }) => channel));
  const rows = (Object.keys(messages) as TemplateKey[]).map((key) => ({
    key,
    channel: messages[key].channel,
    own: (templates.data?.body ?? []).filter(({ templateKey }) => templateKey === key),
  }));
  return (
    <LookPage
      realm={realm}
      at="messages"
      actions={
        <>
          <AsCommand
            commands={() => ({
              realmctl: `realmctl get message-templates -r ${word(realm)}`,
              curl: curlOf(api.listMessageTemplates, { realm }),
            })}
          />
          <ButtonLink to={inRealm(realm, 'message-templates')}>Own words as a list</ButtonLink>
        </>
      }
    >
      {templates.error && <ProblemNote problem={templates.error} retry={() => void templates.refetch()} />}
      {gateways.data && !channels.has('EMAIL') && (
        <Note tone="warn">
          The realm sends no mail yet.{' '}
          {may(realm, 'messaging:write') && <Link href={inRealm(realm, 'set-up', 'messages')}>Set up a gateway</Link>}
        </Note>
      )}
      {templates.data ? (
        <Table
          label="Messages"
          rows={rows}
          idOf={({ key }) => key}
          to={({ key }) => lookAddress(realm, 'messages', key)}
          columns={[
            { id: 'key', head: 'Message', cell: ({ key }) => purposes[key] },
            {
              id: 'channel',
              head: 'Channel',
              cell: ({ channel }) => (
                <Badge>{channels.has(channel) ? channelWords[channel] : `${channelWords[channel]}, no gateway`}</Badge>
              ),
            },
            { id: 'languages', head: 'Languages', cell: ({ own }) => <Chips items={own.map(languageOf)} most={6} /> },
            { id: 'managers', head: 'Declared by', cell: ({ own }) => <Chips items={managersOf(own)} most={2} /> },
            { id: 'format', head: 'Format', cell: ({ own }) => (own.some(({ html }) => html) ? 'HTML' : 'Text') },
          ]}
        />
      ) : (
        !templates.error && <Loading lines={8} />
      )}
    </LookPage>
  );
}

/** Of the words in any language. */
const managersOf = (own: readonly Template[]): string[] => [
  ...new Set(own.flatMap(({ managedBy = [] }) => managedBy.map(({ manager }) => shortManager(manager)))),
];
const languageOf = ({ locale, enabled }: Template): string => (enabled ? locale : `${locale} (off)`);
