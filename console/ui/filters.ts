// The filters of a page in its address: a filtered list can be sent to a colleague.
import { useLocation, useSearchParams } from 'wouter';

export interface Filters {
  /** '' where the address has none. */
  get(name: string): string;
  /** The page's address with these changes; '' and undefined take a filter away. */
  address(changes: Readonly<Record<string, string | undefined>>): string;
  /** Changes the address in place, so that "back" leaves the list. */
  set(changes: Readonly<Record<string, string | undefined>>): void;
}

export function useFilters(): Filters {
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const address: Filters['address'] = (changes) => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    return next.size > 0 ? `${path}?${next}` : path;
  };
  return {
    get: (name) => search.get(name) ?? '',
    address,
    set: (changes) => navigate(address(changes), { replace: true }),
  };
}

/** The cursor of a `Link` header as a filter of the address. */
export const cursorOf = (nextCursor: string | undefined): string | undefined =>
  nextCursor === undefined ? undefined : decodeURIComponent(nextCursor);
