// Whether a hold stands on a flow: its manager then keeps its document from changing it, and it may be edited here.
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listHolds } from '../../generated/routes.ts';

const MOST = 1000;

export function useHeld(realm: string, alias: string, isManaged: boolean): boolean {
  const may = useMay();
  const holds = useRead(
    listHolds,
    { params: { realm }, query: { limit: MOST } },
    { enabled: isManaged && may(realm, 'holds:read') },
  );
  return (holds.data?.body ?? []).some(
    ({ what, until }) =>
      until > Date.now() &&
      what.some(({ kind, key }) => kind === 'flow' && (key === undefined || key === null || key === alias)),
  );
}
