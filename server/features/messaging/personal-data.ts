// What messaging keeps of a person: their devices, and that they got messages; both go with the person. Specification 2.9.
import type { PersonalData } from '../gdpr/personal-data.ts';

export const messagingData: PersonalData = { tables: ['message', 'push_token'] };
