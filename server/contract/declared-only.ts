// The setting `declaredOnly`: sections of the realm document whose objects are changed by documents of a manager alone. Run-time data
// (users, sessions, credentials, memberships, consents) is never locked. Decisions "Declared only".

/** Every section but users. */
export const ALL_CONFIGURATION = '*';

/** The manager of an import that names none, by kind of document. To a section that is declared only it is a change by hand. */
export const UNNAMED = { realm: 'import', keycloak: 'keycloak' } as const;
export const unnamedManagers: readonly string[] = Object.values(UNNAMED);
export const isByHand = (manager: string): boolean => unnamedManagers.includes(manager);

/** Whether the setting locks the section. */
export const locksSection = (declaredOnly: readonly string[], section: string): boolean =>
  declaredOnly.includes(section) || (declaredOnly.includes(ALL_CONFIGURATION) && section !== 'users');
