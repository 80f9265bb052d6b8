// Links by which people say that a sign-in wasn't theirs: they go with the person. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const newDeviceData: PersonalData = { tables: ['sign_in_report'] };
