// The setting `declaredOnly`: sections of the realm document whose objects are changed by documents of a manager alone. What is not
// configuration (users, sessions, credentials, memberships, consents) is never locked. Decisions "Declared only".
import { z } from 'zod';
import { sectionNames } from './section-names.ts';

/** Every section but users. */
export const ALL_CONFIGURATION = '*';

const declarable = Object.keys(sectionNames).filter((section) => section !== 'users');

export const DeclaredOnly = z.array(z.enum([ALL_CONFIGURATION, ...declarable])).max(100);

/** An import that names no manager is its caller's own: to a section that is declared only it is a change by hand. */
export const BY_HAND = 'import';

/** Whether the setting locks the section. */
export const locksSection = (declaredOnly: readonly string[], section: string): boolean =>
  declaredOnly.includes(section) || (declaredOnly.includes(ALL_CONFIGURATION) && section !== 'users');
