// Addresses of users' pages, and changes of the address that a page is at.
import { useLocation, useSearchParams } from 'wouter';
import { inRealm } from '../../shell/addresses.ts';
import type { Changes } from './filters.ts';

export const usersAddress = (realm: string): string => inRealm(realm, 'users');
export const userAddress = (realm: string, userId: string): string => inRealm(realm, 'users', userId);

/** The query of the address, and the same address with some of it changed; '' and undefined remove a name. */
export function useAddressState() {
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const address = (changes: Changes): string => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    return next.size > 0 ? `${path}?${next}` : path;
  };
  const change = (changes: Changes) => navigate(address(changes), { replace: true });
  return { search, address, change };
}
