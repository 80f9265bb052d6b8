// How deliveries to all webhooks of a realm went in the last seven days.
import { useRead } from '../../api/queries.ts';
import { getStatistics } from '../../generated/routes.ts';
import { Chart } from '../../ui/chart.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { deliverySeries } from '../overview/deliveries.ts';
import { periodOf, useSpan } from '../overview/periods.ts';

export default function DeliveryChart({ realm }: { realm: string }) {
  const query = useSpan(periodOf('7d'));
  const { data, error } = useRead(getStatistics, { params: { realm }, query }, { keep: true });
  const found = data?.body;
  if (error) return <ProblemNote problem={error} />;
  // nothing to draw, and the list below says so
  if (!found || found.deliveries.total === 0) return null;
  return (
    <Panel>
      <Chart
        level={2}
        title="Tries of deliveries in the last 7 days"
        step={found.step}
        times={found.times}
        series={deliverySeries(found.deliveries)}
        empty="Nothing was sent to a webhook."
      />
    </Panel>
  );
}
