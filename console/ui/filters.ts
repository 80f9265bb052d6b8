// The filters of a page in its address: a filtered list can be sent to a colleague.
import { useLocation, useSearchParams } from 'wouter';

/** '', null and undefined take a filter away. */
export type FilterChanges = Readonly<Record<string, string | null | undefined>>;

export interface Filters {
  /** '' where the address has none. */
  get(name: string): string;
  /** The page's address with these changes. */
  address(changes: FilterChanges): string;
  /** Changes the address in place, so that "back" leaves the list. */
  set(changes: FilterChanges): void;
}

function changed(before: URLSearchParams, changes: FilterChanges): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value) after.set(name, value);
    else after.delete(name);
  }
  return after;
}

export function useFilters(): Filters {
  const [path] = useLocation();
  const [search, setSearch] = useSearchParams();
  return {
    get: (name) => search.get(name) ?? '',
    address: (changes) => {
      const after = changed(search, changes);
      return after.size > 0 ? `${path}?${after}` : path;
    },
    set: (changes) => setSearch((now) => changed(now, changes), { replace: true }),
  };
}
