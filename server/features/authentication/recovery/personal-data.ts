// Links that set a new password: they go with the person, and say nothing of them beyond their address. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const recoveryData: PersonalData = { tables: ['password_reset'] };
