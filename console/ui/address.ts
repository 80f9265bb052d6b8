// What the address holds besides its path: filters, choices, cursors. A link to another state keeps the rest of it.
import { useLocation, useSearchParams } from 'wouter';

export type AddressChanges = Readonly<Record<string, string | null | undefined>>;

export function useAddress() {
  const [path] = useLocation();
  const [search, setSearch] = useSearchParams();
  const after = (now: URLSearchParams, changes: AddressChanges): URLSearchParams => {
    const next = new URLSearchParams(now);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === null || value === '') next.delete(name);
      else next.set(name, value);
    }
    return next;
  };
  return {
    get: (name: string): string | undefined => search.get(name) ?? undefined,
    /** The same page in another state. */
    to: (changes: AddressChanges): string => {
      const next = after(search, changes);
      return next.size > 0 ? `${path}?${next}` : path;
    },
    /** Goes there without a step of "back". */
    set: (changes: AddressChanges) => setSearch((now) => after(now, changes), { replace: true }),
  };
}
