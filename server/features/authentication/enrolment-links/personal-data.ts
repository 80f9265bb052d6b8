// Links by which people set up a way to sign in: they go with the person. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const enrolmentLinkData: PersonalData = { tables: ['enrolment_link'] };
