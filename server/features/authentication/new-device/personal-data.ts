// Links by which users report a sign-in as not theirs. They are deleted with the user. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const newDeviceData: PersonalData = { tables: ['sign_in_report'] };
