// Owns: the plans that a cluster's operator would make for resources in files, each with its own manager.
// Does not own: the operator's permission rules (operator/runtime); the comparison, which the server does.
// Implements: docs/cli.md: the plan of a change that GitOps is going to apply.
import { specPath } from '../operator/kinds/spec-path.ts';
import { managerOf, managersIn } from '../operator/resource.ts';
import { ServerProblem } from '../server/contract/client.ts';
import { getAdoption } from '../server/contract/realms.ts';
import type { Cli, Connection } from './command.ts';
import { planFiles, planOf, type Wanted } from './declarations.ts';
import type { Part, ResourceName } from './declared.ts';
import { Refused } from './faults.ts';
import { merge } from './merge.ts';
import { plain, writeLine } from './output.ts';
import type { Planned } from './plan.ts';

type Resource = Part & { resource: ResourceName };

/** @returns `waits`: some resources would wait for objects that others in the files create */
export async function planAsOperator(
  cli: Pick<Cli, 'io' | 'signal'>,
  connection: Connection,
  { realms, declared }: Wanted,
  { cluster, force = false }: { cluster: string; force?: boolean },
): Promise<{ plans: Planned[]; waits: boolean }> {
  const resources = declared.parts.map(asResource).sort((a, b) => rank(a) - rank(b));
  // plans each realm as a whole, which reports its faults with their places; a part that only waits for another has no
  // fault
  for (const whole of realms) await planFiles(cli, connection, whole, { manager: `k8s:${cluster}`, force: true });
  const plans: Planned[] = [];
  let waits = false;
  for (const part of resources) {
    const { object, resource, realm } = part;
    const manager = managerOf(cluster, { kind: resource.kind, metadata: resource });
    try {
      const [one] = merge([await asGuest(connection, part, cluster)]).realms;
      if (!one) continue;
      const mustExist = resource.kind !== 'Realm';
      const plan = await planOf(cli, connection, one, { manager, prune: true, force, mustExist });
      plans.push({ realm, object, plan, notCompared: declared.missing.filter((missing) => missing.object === object) });
    } catch (error) {
      if (!(error instanceof ServerProblem && [400, 404, 412].includes(error.status))) throw error;
      waits = true;
      writeLine(cli.io, plain(`${object} would wait: ${whyNot(error, part)}`));
    }
  }
  return { plans, waits };
}

function asResource(part: Part): Resource {
  if (part.resource) return { ...part, resource: part.resource };
  throw new Refused(`${part.item.file} holds a realm document`, 'An operator applies resources: leave --cluster out.');
}

function whyNot({ status, message, problem }: ServerProblem, { realm, resource }: Resource): string {
  if (status !== 400) return `there is no realm ${realm} yet`;
  const faults = problem?.errors?.map((fault) => `${specPath(resource.kind, fault.path)}: ${fault.message}`) ?? [];
  return faults.join('; ') || message;
}

/** Realms first, because other resources attach to them. */
const rank = ({ resource }: Resource): number => (resource.kind === 'Realm' ? 0 : 1);

/** Outside its Realm's namespace a workload can't act as an administrator: the operator sets that, so the plan does too. */
async function asGuest({ client }: Connection, part: Resource, cluster: string): Promise<Part> {
  const { workloadIdentity } = part.document;
  if (!workloadIdentity) return part;
  const { body } = await client.call(getAdoption, { params: { realm: part.realm } });
  if (!body?.createdBy || body.createdBy.startsWith(managersIn(cluster, part.resource.namespace))) return part;
  const guests = workloadIdentity.map((one) => ({ ...one, use: 'exchange' as const, adminAccess: false }));
  return { ...part, document: { ...part.document, workloadIdentity: guests } };
}
