// The deliveries of a webhook: what arrived, what is tried again, what was given up and can be sent again.
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listDeliveries, listWebhooks, redeliver, testWebhook } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Empty, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { LOOK_SECONDS, PAGE_ROWS, Paged } from './paged.tsx';
import { Which } from './which.tsx';

type Webhook = OutputOf<typeof listWebhooks>[number];
type Delivery = OutputOf<typeof listDeliveries>[number];

const DeliveryChart = lazy(() => import('./delivery-chart.tsx'));
const tones = { pending: 'info', succeeded: 'good', retrying: 'warn', dead: 'bad' } as const;
const words = { pending: 'waiting', succeeded: 'arrived', retrying: 'tried again', dead: 'given up' } as const;

export function Deliveries({ realm }: { realm: string }) {
  const may = useMay();
  const test = useWrite(testWebhook);
  const webhooks = useRead(listWebhooks, { params: { realm }, query: { limit: 1000 } });
  return (
    <>
      {test.error && <ProblemNote problem={test.error} />}
      {may(realm, 'events:read') && (
        <Suspense>
          <DeliveryChart realm={realm} />
        </Suspense>
      )}
      <Which<Webhook>
        name="webhook"
        label="Webhook"
        read={webhooks}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        none={
          <Empty
            icon="webhook"
            title="There are no webhooks"
            actions={<ButtonLink to={inRealm(realm, 'webhooks')}>Webhooks</ButtonLink>}
          >
            <p>A webhook tells another system of events; what was sent to it is listed here.</p>
          </Empty>
        }
        actions={({ id }) => (
          <>
            {may(realm, 'webhooks:write') && (
              <Button
                isDisabled={test.isPending}
                onPress={() =>
                  test.mutate({ params: { realm, id } }, { onSuccess: () => say('A test event is on its way.') })
                }
              >
                Send a test event
              </Button>
            )}
            <Link href={inRealm(realm, 'webhooks', id)}>Settings of the webhook</Link>
          </>
        )}
      >
        {(webhook) => <Of realm={realm} webhook={webhook} />}
      </Which>
    </>
  );
}

function Of({ realm, webhook }: { realm: string; webhook: Webhook }) {
  const may = useMay();
  const { get } = useFilters();
  const again = useWrite(redeliver);
  const cursor = get('cursor') || undefined;
  const deliveries = useRead(
    listDeliveries,
    { params: { realm, id: webhook.id }, query: { limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { keep: true, everySeconds: LOOK_SECONDS },
  );
  const columns: TableColumn<Delivery>[] = [
    { id: 'event', head: 'event', cell: ({ eventType }) => <code>{eventType}</code> },
    { id: 'status', head: 'state', cell: ({ status }) => <Badge tone={tones[status]}>{words[status]}</Badge> },
    { id: 'answer', head: 'answer', cell: (row) => <Answer {...row} /> },
    { id: 'attempts', head: 'tries', numeric: true, cell: ({ attempts }) => attempts },
    { id: 'created', head: 'since', cell: ({ createdAt }) => <Time ms={createdAt} /> },
    { id: 'last', head: 'last try', cell: ({ lastAttemptAt }) => <Time ms={lastAttemptAt} /> },
    ...(may(realm, 'webhooks:write')
      ? [
          {
            id: 'again',
            head: 'send again',
            cell: ({ id, status, eventType }: Delivery) =>
              (status === 'dead' || status === 'succeeded') && (
                <Button
                  small
                  isDisabled={again.isPending}
                  aria-label={`${status === 'dead' ? 'Try again' : 'Send again'}: ${eventType}`}
                  onPress={() =>
                    again.mutate(
                      { params: { realm, id: webhook.id, deliveryId: id } },
                      { onSuccess: () => say('It is sent again, with the same id.') },
                    )
                  }
                >
                  {status === 'dead' ? 'Try again' : 'Send again'}
                </Button>
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
          <Empty icon="webhook" title="Nothing was sent yet">
            <p>The next event that the webhook subscribes to is listed here.</p>
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
