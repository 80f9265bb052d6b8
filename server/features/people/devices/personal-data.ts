// Personal data of devices besides the credentials: enrolments, approvals and signed transactions. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const deviceData: PersonalData = { tables: ['device_enrolment', 'device_challenge', 'device_transaction'] };
