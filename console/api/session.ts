// The signed-in administrator and what they may do. The server decides on every request; the console only leaves out what it
// would refuse.
import { createContext, useContext } from 'react';
import type { Permission } from '../../server/contract/permissions.ts';
import type { getAdminSession } from '../generated/routes.ts';
import type { OutputOf } from './client.ts';

export type Session = OutputOf<typeof getAdminSession>;

/** As contract/admin-access.ts has it. */
const EVERY_REALM = '*';
export const MASTER = 'master';

export interface May {
  /** Whether the permission is held over the whole realm; null: everybody signed in may. */
  (realm: string, permission: Permission | null): boolean;
  /** Whether it is held at least for some groups or clients. */
  partly(realm: string, permission: Permission | null): boolean;
  /** Whether it is held over every realm. */
  everywhere(permission: Permission): boolean;
}

export function mayOf({ permissions, limited, realm: home }: Session): May {
  const holds = (realm: string, permission: Permission | null): boolean =>
    permission === null || [realm, EVERY_REALM].some((of) => (permissions[of] ?? []).includes(permission));
  return Object.assign(holds, {
    partly: (realm: string, permission: Permission | null) =>
      holds(realm, permission) ||
      (realm === home && limited.some((grant) => permission !== null && grant.permissions.includes(permission))),
    everywhere: (permission: Permission) => (permissions[EVERY_REALM] ?? []).includes(permission),
  });
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('this is shown to the signed in alone');
  return session;
}
export const useMay = (): May => mayOf(useSession());
