// A composite in its one form, for what is stored, answered and compared. Decisions "Role". Pure.
import type { Composite } from '../../contract/roles.ts';

const sorted = (names: readonly string[] = []): string[] => [...new Set(names)].sort();

/** Both halves said, names sorted and without doubles; a client without roles is left out. */
export const canonical = ({ roles, clientRoles }: Composite): Composite => ({
  roles: sorted(roles),
  clientRoles: Object.fromEntries(
    Object.entries(clientRoles ?? {})
      .filter(([, names]) => names.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([clientId, names]) => [clientId, sorted(names)]),
  ),
});
