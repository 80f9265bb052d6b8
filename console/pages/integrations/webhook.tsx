// A webhook: its fields, its deliveries, and a test delivery with the receiver's answer.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { TestDelivery } from '../wizards/webhook-end.tsx';

export default detailWith('webhooks', ({ realm }) => {
  const mayWrite = useMay()(realm, 'webhooks:write');
  const deliveries = ({ id }: Row) => new URLSearchParams({ tab: 'deliveries', webhook: String(id) });
  return {
    actions: (row) => <ButtonLink to={`${inRealm(realm, 'operations')}?${deliveries(row)}`}>Deliveries</ButtonLink>,
    tabs: ({ id }) =>
      mayWrite ? [{ id: 'test', label: 'Test', content: () => <TestDelivery realm={realm} id={String(id)} /> }] : [],
  };
});
