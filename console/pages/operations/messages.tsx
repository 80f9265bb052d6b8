// Messages of the last 30 days: mails, text messages, pushes. Never what they say.
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listMessages, retryMessage } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { WriteInRow } from '../../kinds/write-in-row.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { LOOK_SECONDS, PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Message = OutputOf<typeof listMessages>[number];

const tones = { pending: 'info', sent: 'good', retrying: 'warn', dead: 'bad' } as const;
const words = { pending: 'Waiting', retrying: 'Tried again', sent: 'Sent', dead: 'Given up' } as const;
const states = ['pending', 'retrying', 'sent', 'dead'] as const;

const columnsIn = (realm: string): TableColumn<Message>[] => [
  { id: 'template', head: 'message', cell: ({ templateKey }) => <code>{templateKey}</code> },
  {
    id: 'status',
    head: 'state',
    cell: ({ status }) => <Badge tone={tones[status]}>{words[status].toLowerCase()}</Badge>,
  },
  { id: 'channel', head: 'channel', cell: ({ channel }) => channel },
  {
    id: 'to',
    head: 'to',
    cell: ({ recipient, userId }) =>
      userId === null ? (
        <bdi>{recipient}</bdi>
      ) : (
        <Link href={inRealm(realm, 'users', userId)}>
          <bdi>{recipient}</bdi>
        </Link>
      ),
  },
  {
    id: 'error',
    head: 'answer of the gateway',
    cell: ({ error }) => (error === null ? <span className="none">none</span> : <bdi className="small">{error}</bdi>),
  },
  { id: 'attempts', head: 'tries', numeric: true, cell: ({ attempts }) => attempts },
  { id: 'created', head: 'since', cell: ({ createdAt }) => <Time ms={createdAt} /> },
  { id: 'last', head: 'last try', cell: ({ lastAttemptAt }) => <Time ms={lastAttemptAt} /> },
];

export function Messages({ realm }: { realm: string }) {
  const may = useMay();
  const again = useWrite(retryMessage);
  const { get, set } = useFilters();
  const status = states.find((one) => one === get('status'));
  const cursor = get('cursor') || undefined;
  const messages = useRead(
    listMessages,
    {
      params: { realm },
      query: { limit: PAGE_ROWS, ...(status && { status }), ...(cursor !== undefined && { cursor }) },
    },
    { keep: true, everySeconds: LOOK_SECONDS },
  );
  const columns: TableColumn<Message>[] = [
    ...columnsIn(realm),
    ...(may(realm, 'messaging:write')
      ? [
          {
            id: 'again',
            head: 'send again',
            cell: ({ id, retryable, recipient, templateKey }: Message) =>
              retryable && (
                <WriteInRow
                  write={again}
                  input={{ params: { realm, id } }}
                  words="Try again"
                  name={`Try again: ${templateKey} to ${recipient}`}
                  done="It is sent again, as it was."
                  command={`send ${templateKey} to ${recipient} again`}
                  commands={() => ({
                    realmctl: realmctl('retry message', [id], `-r ${word(realm)}`),
                    curl: curlOf(retryMessage, { realm, id }),
                  })}
                />
              ),
          },
        ]
      : []),
  ];
  return (
    <div className="list">
      {again.error && <ProblemNote problem={again.error} />}
      <div className="list-tools">
        <Select
          label="State"
          hideLabel
          value={status ?? null}
          none="In any state"
          options={states.map((id) => ({ id, label: words[id] }))}
          onChange={(chosen) => set({ status: chosen ?? undefined, cursor: undefined })}
        />
        <div className="spread">
          <ButtonLink to={inRealm(realm, 'messaging-providers')}>Providers</ButtonLink>
        </div>
      </div>
      <Paged
        label="Messages"
        read={messages}
        columns={columns}
        idOf={({ id }) => id}
        empty={
          <Empty icon="mail" title={status ? 'No message is in this state' : 'No message was sent in the last 30 days'}>
            <p>
              The server sends a message again by itself. One that was given up can be sent again here until it expires;
              then the user asks for a new one at the sign-in.
            </p>
          </Empty>
        }
      />
    </div>
  );
}
