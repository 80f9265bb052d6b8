// What is kept of a person's devices beyond their credentials: enrolments and approvals of the last minutes, and what they signed. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const deviceData: PersonalData = { tables: ['device_enrolment', 'device_challenge', 'device_transaction'] };
