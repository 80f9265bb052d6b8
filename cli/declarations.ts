// Owns: the options of commands that read `-f` (apply, diff, validate), faults of files as text, requesting a realm's plan.
// Does not own: reading (files.ts), declared parts (declared.ts, merge.ts), plans as text (plan.ts).
// Implements: docs/cli.md: exit code 2 for faults in a file, before any request.
import type { Command } from 'commander';
import { ServerProblem } from '../server/contract/client.ts';
import { applyDocument, planDocument } from '../server/contract/import-document.ts';
import type { Plan } from '../server/contract/transfer.ts';
import { type Cli, type Connection, managerName, realmName } from './command.ts';
import { type Declared, declaredBy, type Part } from './declared.ts';
import { addEnvFile, documentWithVariables, sayFilled, type Variables, variablesOf } from './document-variables.ts';
import { faultOf, hintOf, Outcome, Refused } from './faults.ts';
import { type FileFault, readFiles } from './files.ts';
import { type Merged, merge } from './merge.ts';
import { plain, writeLine } from './output.ts';
import type { Planned } from './plan.ts';
import { withProgress } from './progress.ts';

export interface FileOptions {
  file: string[];
  recursive?: true;
  realm?: string;
  clusterIssuer?: string;
}
export interface PlanOptions extends FileOptions {
  manager: string;
  prune?: true;
  force?: true;
  envFile?: string;
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const addFiles = (command: Command): Command =>
  command
    .requiredOption('-f, --file <file>', 'a file or a folder of YAML or JSON, - for stdin; may be given again', collect)
    .option('-R, --recursive', 'folders with what is below them')
    .option('-r, --realm <realm>', 'the realm of documents that name none (default: the context’s)', realmName)
    .option('--cluster-issuer <url>', 'the issuer of ServiceAccount tokens, for a serviceAccountRef without an issuer');

export const addPlan = (command: Command): Command =>
  addEnvFile(addFiles(command))
    .option('--prune', 'delete what this manager applied before and the files no longer hold')
    .option('--force', 'take over what other managers own')
    .option('--manager <name>', 'who declares it: a name of its own for each pipeline', managerName, 'realmctl');

export interface Wanted {
  declared: Declared;
  realms: Merged[];
  faults: FileFault[];
}

/** Reads the files and checks them as far as possible without a server. */
export async function wantedBy(
  { io }: Pick<Cli, 'io'>,
  options: FileOptions,
  variables: Variables = new Map(),
): Promise<Wanted> {
  const reading = await readFiles(io, options.file, { recursive: options.recursive === true });
  const declared = declaredBy(reading, { realm: options.realm, clusterIssuer: options.clusterIssuer });
  const used = new Set<string>();
  const parts: Part[] = [];
  for (const part of declared.parts) parts.push(await filled(part, variables, (name) => used.add(name)));
  sayFilled(io, used);
  const { realms, faults } = merge(parts);
  return { declared, realms, faults: [...declared.faults, ...faults] };
}

/** Fills in variables. A custom resource keeps its placeholders: the operator, with its own environment, would read them. */
const filled = async (part: Part, variables: Variables, used: (name: string) => void): Promise<Part> =>
  part.resource ? part : { ...part, document: await documentWithVariables(part.document, variables, used) };

/** Reads the files before a request to the server: a fault ends the command. */
export async function readWanted(cli: Pick<Cli, 'io' | 'defaultRealm'>, options: PlanOptions): Promise<Wanted> {
  const realm = options.realm ?? (await cli.defaultRealm());
  const variables = await variablesOf(cli.io.env, options.envFile);
  const wanted = await wantedBy(cli, { ...options, ...(realm !== undefined && { realm }) }, variables);
  sayOthers(cli, wanted.declared);
  if (wanted.faults.length > 0) {
    for (const fault of wanted.faults) writeLine(cli.io, faultText(fault));
    writeLine(
      cli.io,
      `${wanted.faults.length === 1 ? 'One fault' : `${wanted.faults.length} faults`}; nothing was sent.`,
    );
    throw new Outcome(2);
  }
  if (wanted.realms.length === 0)
    throw new Refused('the files hold neither a resource of realmkeeper.dev nor a realm document');
  return wanted;
}

/** `2 × Realm, Flow` */
export const countedKinds = (kinds: ReadonlyMap<string, number>): string =>
  [...kinds].map(([kind, n]) => (n > 1 ? `${n} × ${kind}` : kind)).join(', ');

export function sayOthers({ io }: Pick<Cli, 'io'>, { skipped }: Declared): void {
  if (skipped.size > 0) writeLine(io, plain(`Passed over, being no kinds of Realmkeeper’s: ${countedKinds(skipped)}.`));
}

export function sayMissing({ io }: Pick<Cli, 'io'>, { missing }: Declared, before = ''): void {
  for (const { file, object, secret, key } of missing)
    writeLine(
      io,
      plain(`${before}${file}: ${object}: the Secret ${secret} with the key ${key} is in none of the files`),
    );
}

/** `acme.yaml:12: Realm identity/acme: spec.realm: must be …` */
export function faultText({ file, line, document, object, path, message }: FileFault): string {
  const place =
    line !== undefined ? `:${line}` : document !== undefined && document > 1 ? ` (document ${document})` : '';
  return plain([`${file}${place}`, object, path, message].filter((part) => part !== undefined).join(': '));
}

/** Reports a refusal of the server with file and line, if its message leads back to them. */
function inFiles(
  { io }: Pick<Cli, 'io'>,
  error: unknown,
  { realm, placeOf }: Pick<Merged, 'realm' | 'placeOf'>,
): unknown {
  if (!(error instanceof ServerProblem) || error.status === 0) return error;
  const faults = error.problem?.errors ?? [];
  if (faults.length === 0) {
    writeLine(io, `Realm ${plain(realm)}:`);
    return error;
  }
  writeLine(io, `The server refuses realm ${plain(realm)}:`);
  for (const { path, message } of faults) {
    const place = placeOf(path);
    writeLine(io, place ? faultText({ ...place, message }) : plain(`${path}: ${message}`));
  }
  for (const line of hintOf(error)) writeLine(io, line);
  return new Outcome(2);
}

interface How {
  manager: string;
  prune?: boolean;
  force?: boolean;
  /** The document must not create the realm. */
  mustExist?: boolean;
}

/** The plan of a realm. */
export const planOf = (
  cli: Pick<Cli, 'io' | 'signal'>,
  { client }: Connection,
  { realm, document }: Merged,
  { manager, prune = false, force = false, mustExist = false }: How,
): Promise<Plan> =>
  withProgress(
    cli.io,
    `Planning realm ${realm}`,
    planDocument(client, { realm, document, manager, prune, force, mustExist, signal: cli.signal }),
  );

/** Plans like {@link planOf}, and reports a refusal with file and line. */
export const planFiles: typeof planOf = (cli, connection, merged, how) =>
  planOf(cli, connection, merged, how).catch((error) => {
    throw inFiles(cli, error, merged);
  });

/** Applies the plan if the realm is still at its revision; a refusal is reported with file and line. */
export const applyFiles = (
  cli: Pick<Cli, 'io' | 'signal'>,
  { client }: Connection,
  merged: Merged,
  { manager, prune = false, force = false }: How,
  revision: number,
): Promise<Plan> => {
  const { realm, document } = merged;
  return withProgress(
    cli.io,
    `Applying realm ${realm}`,
    applyDocument(client, { realm, document, manager, prune, force, revision, signal: cli.signal }),
  ).catch((error) => {
    throw inFiles(cli, error, merged);
  });
};

/** Plans all realms. A refused one is reported, and the others are still planned. */
export async function planAll(
  cli: Pick<Cli, 'io' | 'signal'>,
  connection: Connection,
  { realms, declared }: Wanted,
  options: PlanOptions,
): Promise<{ plans: Planned[]; refused: boolean }> {
  const plans: Planned[] = [];
  let refused = false;
  for (const wanted of realms) {
    try {
      const plan = await planFiles(cli, connection, wanted, options);
      const notCompared = declared.missing.filter(({ realm }) => realm === wanted.realm);
      plans.push({ realm: wanted.realm, plan, notCompared });
    } catch (error) {
      const { code, lines } = faultOf(error);
      // without a session, the requests for the next realms would fail too
      const session = error instanceof ServerProblem && (error.status === 401 || error.status === 0);
      if (code !== 2 || session || realms.length === 1) throw error;
      for (const line of lines) writeLine(cli.io, plain(line));
      refused = true;
    }
  }
  return { plans, refused };
}
