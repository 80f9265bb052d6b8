// Links that set a new password. They contain only the user's address, and are deleted with the user. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const recoveryData: PersonalData = { tables: ['password_reset'] };
