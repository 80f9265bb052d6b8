// A dialog in the address of its page: "back" closes it, and a reload opens it again.
import { useSearchParams } from 'wouter';

/** The state of an entry of the browser's history that `open` made. */
const OPENED = 'opened';

/** @param name of the parameter that says what is open */
export function useOpened(name: string): { open(what: string): void; close(): void } {
  const [, setSearch] = useSearchParams();
  const without = (now: URLSearchParams) => {
    const after = new URLSearchParams(now);
    after.delete(name);
    return after;
  };
  return {
    open: (what) => setSearch((now) => new URLSearchParams([...without(now), [name, what]]), { state: OPENED }),
    close() {
      if (history.state === OPENED) history.back();
      else setSearch(without, { replace: true });
    },
  };
}
