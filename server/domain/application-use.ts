// Whether a user may use the application that a client belongs to. Pure. Decisions "Application".
import type { Person } from './person.ts';

interface Application {
  name: string;
  enabled: boolean;
  /** A user needs one of these roles of the realm; empty: none is needed. */
  roles: readonly string[];
}

/** Why not, for the audit log; undefined: the user may, or the client belongs to no application. */
export function useFault(application: Application | null, { roles }: Pick<Person, 'roles'>): string | undefined {
  if (application === null) return undefined;
  if (!application.enabled) return `the application ${application.name} is switched off`;
  return application.roles.length === 0 || application.roles.some((role) => roles.realm.includes(role))
    ? undefined
    : `the user has no role of the application ${application.name}`;
}
