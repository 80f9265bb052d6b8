// The deliveries of a webhook, or of all: what arrived, what is tried again, what was given up and can be sent again.
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listAllDeliveries, listDeliveries, listWebhooks, redeliver, testWebhook } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { WriteInRow } from '../../kinds/write-in-row.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { LOOK_SECONDS, PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

type Webhook = OutputOf<typeof listWebhooks>[number];
type Delivery = OutputOf<typeof listDeliveries>[number];

const DeliveryChart = lazy(() => import('./delivery-chart.tsx'));
const tones = { pending: 'info', succeeded: 'good', retrying: 'warn', dead: 'bad' } as const;
const words = { pending: 'waiting', succeeded: 'arrived', retrying: 'tried again', dead: 'given up' } as const;
const states = ['pending', 'retrying', 'succeeded', 'dead'] as const;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function Deliveries({ realm }: { realm: string }) {
  const may = useMay();
  const { get, set } = useFilters();
  const test = useWrite(testWebhook);
  const webhooks = useRead(listWebhooks, { params: { realm }, query: { limit: 1000 } });
  if (webhooks.error && !webhooks.data)
    return <ProblemNote problem={webhooks.error} retry={() => void webhooks.refetch()} />;
  if (!webhooks.data) return <Loading lines={5} />;
  const all = webhooks.data.body ?? [];
  if (all.length === 0) return <NoWebhooks realm={realm} />;
  // of a single webhook there is nothing to choose
  const chosen = all.length === 1 ? all[0] : all.find(({ id }) => id === get('webhook'));
  const status = states.find((one) => one === get('status'));
  return (
    <>
      {test.error && <ProblemNote problem={test.error} />}
      {may(realm, 'events:read') && (
        <Suspense>
          <DeliveryChart realm={realm} />
        </Suspense>
      )}
      <div className="list">
        <div className="list-tools">
          <Select
            label="Webhook"
            hideLabel
            value={chosen?.id ?? null}
            {...(all.length > 1 && { none: 'All webhooks' })}
            options={all.map(({ id, name }) => ({ id, label: name }))}
            onChange={(id) => set({ webhook: id ?? undefined, cursor: undefined })}
          />
          <Select
            label="State"
            hideLabel
            value={status ?? null}
            none="In any state"
            options={states.map((id) => ({ id, label: capital(words[id]) }))}
            onChange={(id) => set({ status: id ?? undefined, cursor: undefined })}
          />
          {chosen && (
            <div className="spread">
              {may(realm, 'webhooks:write') && (
                <Button
                  isDisabled={test.isPending}
                  onPress={() =>
                    test.mutate(
                      { params: { realm, id: chosen.id } },
                      { onSuccess: () => say('A test event is on its way.') },
                    )
                  }
                >
                  Send a test event
                </Button>
              )}
              <Link href={inRealm(realm, 'webhooks', chosen.id)}>Settings of the webhook</Link>
            </div>
          )}
        </div>
        <List realm={realm} webhooks={all} chosen={chosen} status={status} />
      </div>
    </>
  );
}

function NoWebhooks({ realm }: { realm: string }) {
  return (
    <Panel>
      <Empty
        icon="webhook"
        title="There are no webhooks"
        actions={<ButtonLink to={inRealm(realm, 'webhooks')}>Webhooks</ButtonLink>}
      >
        <p>A webhook tells another system of events; what was sent to it is listed here.</p>
      </Empty>
    </Panel>
  );
}

/** Of the chosen webhook, or of all. */
function useDeliveries(realm: string, id: string | undefined, status: Delivery['status'] | undefined) {
  const { get } = useFilters();
  const cursor = get('cursor') || undefined;
  const query = { limit: PAGE_ROWS, ...(status && { status }), ...(cursor !== undefined && { cursor }) };
  const options = { keep: true, everySeconds: LOOK_SECONDS };
  const ofOne = useRead(
    listDeliveries,
    { params: { realm, id: id ?? '' }, query },
    { ...options, enabled: id !== undefined },
  );
  const ofAll = useRead(listAllDeliveries, { params: { realm }, query }, { ...options, enabled: id === undefined });
  return id === undefined ? ofAll : ofOne;
}

function List({
  realm,
  webhooks,
  chosen,
  status,
}: {
  realm: string;
  webhooks: readonly Webhook[];
  chosen: Webhook | undefined;
  status: Delivery['status'] | undefined;
}) {
  const may = useMay();
  const again = useWrite(redeliver);
  const deliveries = useDeliveries(realm, chosen?.id, status);
  const nameOf = new Map(webhooks.map(({ id, name }) => [id, name]));
  const columns: TableColumn<Delivery>[] = [
    { id: 'event', head: 'event', cell: ({ eventType }) => <code>{eventType}</code> },
    ...(chosen
      ? []
      : [
          {
            id: 'webhook',
            head: 'webhook',
            cell: ({ webhookId }: Delivery) => (
              <Link href={inRealm(realm, 'webhooks', webhookId)}>
                <bdi>{nameOf.get(webhookId) ?? webhookId}</bdi>
              </Link>
            ),
          },
        ]),
    { id: 'status', head: 'state', cell: (row) => <Badge tone={tones[row.status]}>{words[row.status]}</Badge> },
    { id: 'answer', head: 'answer', cell: (row) => <Answer {...row} /> },
    { id: 'attempts', head: 'tries', numeric: true, cell: ({ attempts }) => attempts },
    { id: 'created', head: 'since', cell: ({ createdAt }) => <Time ms={createdAt} /> },
    { id: 'last', head: 'last try', cell: ({ lastAttemptAt }) => <Time ms={lastAttemptAt} /> },
    ...(may(realm, 'webhooks:write')
      ? [
          {
            id: 'again',
            head: 'send again',
            cell: ({ id, webhookId, status: state, eventType }: Delivery) =>
              (state === 'dead' || state === 'succeeded') && (
                <WriteInRow
                  write={again}
                  input={{ params: { realm, id: webhookId, deliveryId: id } }}
                  words={state === 'dead' ? 'Try again' : 'Send again'}
                  name={`${state === 'dead' ? 'Try again' : 'Send again'}: ${eventType}`}
                  done="It is sent again, with the same id."
                  command={`send ${eventType} again`}
                  commands={() => ({
                    realmctl: realmctl('retry delivery', [nameOf.get(webhookId) ?? webhookId, id], `-r ${word(realm)}`),
                    curl: curlOf(redeliver, { realm, id: webhookId, deliveryId: id }),
                  })}
                />
              ),
          },
        ]
      : []),
  ];
  return (
    <>
      {again.error && <ProblemNote problem={again.error} />}
      <Paged
        label="Deliveries"
        read={deliveries}
        columns={columns}
        idOf={({ id }) => id}
        empty={
          <Empty icon="webhook" title={status ? 'No delivery is in this state' : 'Nothing was sent yet'}>
            <p>
              {status
                ? 'Deliveries are listed for 30 days.'
                : 'The next event to which a webhook subscribes is listed here.'}
            </p>
          </Empty>
        }
      />
    </>
  );
}

function Answer({ responseStatus, error }: Pick<Delivery, 'responseStatus' | 'error'>) {
  if (responseStatus === null && error === null) return <span className="none">none yet</span>;
  return (
    <span>
      {responseStatus !== null && <code>{responseStatus}</code>}{' '}
      {error !== null && <bdi className="small">{error}</bdi>}
    </span>
  );
}
