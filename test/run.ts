// Owns: `npm test`: gets what the chosen tests need, runs them, and ends with the line of counts.
// Does not own: the tests' grouping (vitest.config.ts), the counting (support/report.ts).
// Implements: one command for all tests; what can't be had is skipped loudly, and fails a run with CI=true.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createVitest, parseCLI, type TestSpecification, type Vitest } from 'vitest/node';
import { errorWords } from '../server/contract/error-words.ts';
import { NOT_PROMISED, NotPromised } from './containers/engine.ts';
import { chromiumPath } from './support/chromium.ts';
import { startCluster } from './support/cluster.ts';
import { fillCompileCache } from './support/compile-cache.ts';
import type {} from './support/database.ts';
import { obtainGoClient } from './support/go-client.ts';
import { prepareKeyPairs } from './support/key-pairs.ts';
import { type Need, needsOf } from './support/needs.ts';
import { NotInstallable } from './support/packages.ts';
import { obtainPatroni } from './support/patroni.ts';
import { obtainPythonClient } from './support/python-client.ts';
import { closingLine, countSuites, failures, type Missing, slowest, table, total, unsteady } from './support/report.ts';
import { obtainSamlTools } from './support/saml-tools.ts';
import { obtainScimTester } from './support/scim-tester.ts';
import { slapdPath } from './support/slapd.ts';

const ci = ['true', '1'].includes(process.env.CI ?? '');
const say = (message: string) => console.log(message);

/** Each part's way of getting it; a failure's message is the reason given for the skipped tests. */
const preparations: Record<Exclude<Need, 'database'>, () => Promise<unknown>> = {
  chromium: () => chromiumPath(say),
  containers: () => prepareBy('containers'),
  helm: () => prepareBy('kubernetes', '--helm'),
  kstatus: () => prepareBy('kubernetes', '--kstatus'),
  kubernetes: () => prepareBy('kubernetes'),
  node: () => prepareBy('node'),
  // Debian's packages, for who may install them
  samlTools: () =>
    obtainSamlTools(say).catch((error) => {
      throw error instanceof NotInstallable ? new NotPromised(error.message) : error;
    }),
  slapd: () => slapdPath(say),
  patroni: () => obtainPatroni(say),
  // Python, Go and their registries are on no machine that is promised.
  spire: () => prepareBy('kubernetes', '--spire').catch(notPromised),
  goClient: () => obtainGoClient(say).catch(notPromised),
  pythonClient: () => obtainPythonClient(say).catch(notPromised),
  scimTester: () => obtainScimTester(say).catch(notPromised),
};

/** Those that use the same thing, Debian's packages or a folder of programs, one after the other; the others at once. */
const lanes: readonly (readonly Exclude<Need, 'database'>[])[] = [
  ['chromium', 'slapd', 'samlTools', 'patroni', 'containers'],
  ['kubernetes', 'helm', 'kstatus', 'node', 'spire', 'goClient'],
  ['pythonClient', 'scimTester'],
];

function notPromised(error: unknown): never {
  throw new NotPromised(errorWords(error));
}

interface Lack {
  reason: string;
  /** The machine is none that was promised to have it. */
  excused: boolean;
}

// Programs that tests start load twice as fast by Node's cache of compiled modules, which has no types left to strip.
const compiled = process.env.NODE_COMPILE_CACHE ?? path.resolve('node_modules/.cache/node-compile');
process.env.NODE_COMPILE_CACHE = compiled;

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
// the long ones only for who asks for them, or for one of their files
if (filter.length === 0) options.project ??= '!long';
const vitest = await createVitest('test', { ...options, watch: false });
try {
  await run(vitest);
} finally {
  await vitest.close();
}
// after vitest's own last words, and whatever handle a test may have left open
process.exit();

async function run(vitest: Vitest): Promise<void> {
  await vitest.standalone();
  const chosen = await vitest.getRelevantTestSpecifications(filter);
  const needs = new Set(chosen.flatMap(({ moduleId }) => [...needsOf(moduleId)]));
  const [lacking] = await Promise.all([
    prepare(needs),
    needs.has('database') && Promise.all([startDatabase(vitest), fillCompileCache(compiled)]),
  ]);
  const missing: Missing[] = [];
  const runnable: TestSpecification[] = [];
  for (const specification of chosen) {
    const need = [...needsOf(specification.moduleId)].find((one) => lacking.has(one));
    const lack = need && lacking.get(need);
    if (lack) missing.push(await skip(vitest, specification, lack));
    else runnable.push(specification);
  }
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(runnable, filter.length === 0);
  // vitest also returns what was only parsed
  const ran = testModules.filter(({ moduleId }) =>
    runnable.some((specification) => specification.moduleId === moduleId),
  );
  const suites = countSuites(ran, missing, options.testNamePattern !== undefined);
  const counts = total(suites);
  // an error outside of any test is nobody's result, yet the run has failed
  if (unhandledErrors.length > 0 && counts.failed === 0) counts.failed = 1;
  const excused = missing.reduce((sum, one) => sum + (one.excused ? one.tests : 0), 0);
  const unexcused = counts.skipped > excused;
  if (counts.failed > 0 || counts.passed === 0 || (ci && unexcused)) process.exitCode ||= 1;
  const notes = [...unsteady(ran), ...failures(ran), ...remarks(missing, counts, unexcused)];
  process.once('exit', () => say(['', slowest(ran), '', table(suites), ...notes, '', closingLine(counts)].join('\n')));
}

function remarks(missing: Missing[], { passed, failed }: ReturnType<typeof total>, unexcused: boolean): string[] {
  const lines: string[] = [];
  for (const { suite, tests, reason } of missing) lines.push(`SKIPPED ${tests} of ${suite}: ${reason}`);
  if (passed + failed === 0) lines.push('No test was run.');
  if (ci && unexcused) lines.push('CI=true: a skipped test fails the run.');
  return lines;
}

/** One PostgreSQL for the whole run. Without it nothing could be said of the server, so that it can't be had is a failure. */
async function startDatabase(vitest: Vitest): Promise<void> {
  const [{ cluster, stop }, keyPairs] = await Promise.all([startCluster(), prepareKeyPairs()]);
  vitest.onClose(stop);
  vitest.provide('cluster', cluster);
  vitest.provide('keyPairs', keyPairs);
}

async function prepare(needs: Set<Need>): Promise<Map<Need, Lack>> {
  const lacking = new Map<Need, Lack>();
  const inLane = async (lane: readonly Exclude<Need, 'database'>[]) => {
    for (const need of lane) {
      if (!needs.has(need)) continue;
      try {
        await preparations[need]();
      } catch (error) {
        const reason = errorWords(error);
        say(`${need} can't be had, the tests that need it are skipped: ${reason}`);
        lacking.set(need, { reason: reason.split('\n')[0] ?? need, excused: error instanceof NotPromised });
      }
    }
  };
  await Promise.all(lanes.map(inLane));
  return lacking;
}

async function prepareBy(folder: string, ...args: string[]): Promise<void> {
  const script = path.join(import.meta.dirname, folder, 'prepare.ts');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'pipe'] });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => {
    words = (words + chunk).slice(-4000);
  });
  const [code]: (number | string | null)[] = await once(child, 'close');
  const reason = stripVTControlCharacters(words).trim() || `test/${folder}/prepare.ts ended with ${code}`;
  if (code === NOT_PROMISED) throw new NotPromised(reason);
  if (code !== 0) throw new Error(reason);
}

/** Counts the tests of a file that can't run without running it. */
async function skip(vitest: Vitest, specification: TestSpecification, lack: Lack): Promise<Missing> {
  const parsed = await vitest.experimental_parseSpecification(specification);
  const tests = [...parsed.children.allTests()].length;
  return { suite: specification.project.name, files: 1, tests: Math.max(tests, 1), ...lack };
}
