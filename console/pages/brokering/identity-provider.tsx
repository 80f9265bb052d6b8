// An identity provider: its fields, and the check of its settings.
import { identityProviders } from '../../../server/contract/identity-providers.ts';
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { ProviderTest } from '../wizards/provider-test.tsx';

const fields = new Set(Object.keys(identityProviders.fields));
/** The fields of the answer that a request takes. */
const settingsOf = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([name]) => fields.has(name)));

export default detailWith('identityProviders', ({ realm }) => {
  const mayWrite = useMay()(realm, 'identity-providers:write');
  return {
    tabs: (row) =>
      mayWrite
        ? [{ id: 'check', label: 'Check', content: () => <ProviderTest realm={realm} body={settingsOf(row)} /> }]
        : [],
  };
});
