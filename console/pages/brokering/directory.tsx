// A directory: its fields, and the test of its connection and mapping.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DirectoryTest } from '../wizards/directory-test.tsx';

export default detailWith('userFederation', ({ realm, entry }) => {
  const mayWrite = useMay()(realm, 'user-federation:write');
  const syncs = ({ alias }: Row) => new URLSearchParams({ tab: 'syncs', directory: String(alias) });
  const test = (row: Row) => (
    <DirectoryTest realm={realm} alias={String(row.alias)} edit={`${objectAddress(realm, entry, row)}/edit`} />
  );
  return {
    actions: (row) => <ButtonLink to={`${inRealm(realm, 'operations')}?${syncs(row)}`}>Syncs</ButtonLink>,
    tabs: (row) => (mayWrite ? [{ id: 'test', label: 'Test', content: () => test(row) }] : []),
  };
});
