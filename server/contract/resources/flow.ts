// Kind Flow: one sign-in flow; children by containment, order by position. Decisions "Custom resources"; specification 2.1.
import { z } from 'zod';
import { executionDocument, MAX_EXECUTIONS, MAX_FLOW_DEPTH } from '../flows.ts';
import { name } from '../names.ts';
import { commonSpec, commonStatus, deletionPolicy } from './custom-resource.ts';

export const FlowSpec = z.strictObject({
  ...commonSpec,
  deletionPolicy: deletionPolicy('Delete'),
  alias: name(255).optional().describe('The flow’s name in the realm; metadata.name where it is left out'),
  executions: z
    .array(executionDocument(MAX_FLOW_DEPTH))
    .max(MAX_EXECUTIONS)
    .describe('The steps in order; containers nest to four levels'),
  bind: z.boolean().optional().describe('true: this is the realm’s browser flow'),
});
export type FlowSpec = z.infer<typeof FlowSpec>;

export const FlowStatus = z.strictObject({
  ...commonStatus,
  alias: z.string().optional().describe('The flow’s name in the realm'),
  executions: z.int().optional().describe('How many executions the flow has, containers included'),
});
export type FlowStatus = z.infer<typeof FlowStatus>;
