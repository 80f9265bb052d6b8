// Kind Flow: one flow and, if the spec asks for it, the realm's binding to it. Decisions "Custom resources".
import type { ExecutionDocument } from '../../server/contract/flows.ts';
import { type FlowSpec, FlowSpec as Schema } from '../../server/contract/resources/flow.ts';
import type { Kind } from './kind.ts';

export const flow: Kind<FlowSpec> = {
  name: 'Flow',
  spec: Schema,
  deletionPolicy: 'Delete',
  attached: true,
  secrets: () => [],
  document({ alias, executions, bind }, { metadata }) {
    const named = alias ?? metadata.name;
    return { flows: [{ alias: named, executions }], ...(bind && { realm: { browserFlow: named } }) };
  },
  status: ({ alias, executions }, { metadata }) => ({ alias: alias ?? metadata.name, executions: count(executions) }),
};

const count = (executions: readonly ExecutionDocument[]): number =>
  executions.reduce((sum, { executions: children = [] }) => sum + 1 + count(children), 0);
