// The steps of a flow in a file: a Flow manifest, a realm document, or a flow as `realmctl get flow NAME -o yaml` prints it. The
// server checks the steps themselves.
import { z } from 'zod';
import { ExecutionInput } from '../server/contract/flows.ts';
import type { Io } from './command.ts';
import { Refused } from './faults.ts';
import { type Item, readFiles } from './files.ts';

const Steps = z.looseObject({ executions: z.array(z.unknown()) });
const Manifest = z.looseObject({
  kind: z.literal('Flow'),
  metadata: z.looseObject({ name: z.string() }),
  spec: Steps.extend({ alias: z.string().optional() }),
});
const Document = z.looseObject({ flows: z.array(Steps.extend({ alias: z.string() })) });
const Alone = Steps.extend({ alias: z.string().optional() });

interface Found {
  alias: string | undefined;
  executions: unknown[];
}

function flowsIn({ value }: Item): Found[] {
  const manifest = Manifest.safeParse(value).data;
  if (manifest) {
    const { metadata, spec } = manifest;
    return [{ alias: spec.alias ?? metadata.name, executions: spec.executions }];
  }
  const document = Document.safeParse(value).data;
  if (document) return document.flows;
  const { alias, executions } = Alone.safeParse(value).data ?? {};
  return executions ? [{ alias, executions }] : [];
}

/** The steps of the flow with this alias, or of the only one, if it has no alias. */
export async function stepsInFile(io: Pick<Io, 'stdin'>, file: string, alias: string): Promise<ExecutionInput[]> {
  const { items, faults } = await readFiles(io, [file], { recursive: false });
  const [fault] = faults;
  if (fault) throw new Refused(`${fault.file}: ${fault.message}`);
  const found = items.flatMap(flowsIn);
  const named = found.find((flow) => flow.alias === alias) ?? found.find((flow) => flow.alias === undefined);
  if (!named)
    throw new Refused(
      `${file} has no flow ${alias}`,
      'It may be a Flow manifest, a realm document, or what `realmctl get flow NAME -o yaml` prints.',
    );
  const steps = z.array(ExecutionInput).safeParse(named.executions);
  if (steps.success) return steps.data;
  const [issue] = steps.error.issues;
  throw new Refused(
    `${file}: executions${issue ? `[${issue.path.join('.')}]: ${issue.message}` : ' are no steps of a flow'}`,
  );
}
