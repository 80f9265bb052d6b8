// The realm's addresses as other programs need them.
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints } from '../../generated/routes.ts';

export type Addresses = OutputOf<typeof getEndpoints>;

/** undefined while they load, or without the permission realm:read: the last steps then name the realm's own page of them. */
export function useAddresses(realm: string) {
  const may = useMay();
  return useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
}

/** The base address of the realm's pages, from that of its account page: its issuer can be another. */
export const baseOf = ({ account }: Addresses): string => account.replace(/\/account$/, '');

/** Where a provider sends people back to. */
export const brokerAddress = (base: string, alias: string): string =>
  `${base}/broker/${encodeURIComponent(alias || 'ALIAS')}/endpoint`;
