// The console's first page: the only realm that the reader may see, or else all realms; on a fresh installation the first steps.
import { Redirect } from 'wouter';
import { useRealms } from '../../api/realms.ts';
import { MASTER, useMay, useSession } from '../../api/session.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { Loading, ProblemNote } from '../../ui/state.tsx';

export default function Home() {
  const may = useMay();
  const { realm: own } = useSession();
  const realms = useRealms();
  const all = realms.data?.body;
  // administrators of single groups may see no realm in the list, but their own is there
  if (realms.error) return <ProblemNote problem={realms.error} retry={() => void realms.refetch()} />;
  if (!all) return <Loading lines={6} />;
  const [first] = all;
  if (all.length === 0) return <Redirect to={realmAddress(own)} replace />;
  if (all.length === 1 && first?.realm === MASTER && may.everywhere('realm:create'))
    return <Redirect to="/first-steps" replace />;
  return <Redirect to={all.length === 1 && first ? realmAddress(first.realm) : '/realms'} replace />;
}
