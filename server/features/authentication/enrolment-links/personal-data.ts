// Links by which users set up a credential. They are deleted with the user. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const enrolmentLinkData: PersonalData = { tables: ['enrolment_link'] };
