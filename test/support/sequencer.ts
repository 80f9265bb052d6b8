// Owns: in which order the files of a run begin: those that are known to take long before the others, so that no worker is left alone
// with one of them in the end.
// Does not own: how long they took (report.ts prints it: keep this list by that).
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest first. */
const longest = [
  'test/node/node.long',
  'test/browser/languages.long',
  'test/server/http/slow-bodies.long',
  'test/server/features/forwarding.away.long',
  'test/operator/chaos.long',
  'test/server/random-requests.long',
  'test/documentation/new-kind.long',
  'test/server/features/ldap-sync.long',
  'test/guards/growth.long',
  'test/containers/image.long',
  'test/server/features/users.search.long',
  'test/server/events/retention.long',
  'test/operator/takeover.long',
  'test/operator/versions.long',
  'test/server/extremes.long',
  'test/server/features/keycloak.broken.long',
  'test/server/features/transfer.model.long',
  'test/server/features/transfer.large.long',
  'test/operator/renames.cluster.long',
  'test/operator/deletion.cluster.long',
  'test/server/db/embedded.long',
].map((name) => path.resolve(import.meta.dirname, '../..', `${name}.test.ts`));

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = longest.indexOf(moduleId);
  return at < 0 ? longest.length : at;
};

/** vitest's order, by size, for all that the list doesn't name; the files of a project stay together, as their workers do. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    return projects.flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).sort((a, b) => rankOf(a) - rankOf(b)),
    );
  }
}
