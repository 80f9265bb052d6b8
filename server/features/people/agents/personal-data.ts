// An agent names who answers for it: without the person it is nobody's, and has stopped (domain/end-access.ts). Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const agentData: PersonalData = { tables: ['agent'] };
