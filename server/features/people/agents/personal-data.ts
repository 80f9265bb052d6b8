// Agents name their owner. When the owner is erased, the agent has stopped already (domain/end-access.ts) and stays without
// an owner. Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const agentData: PersonalData = { tables: ['agent'] };
