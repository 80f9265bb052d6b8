// Owns: what has to be on the machine before a test file can run, read from the file's imports.
// Does not own: getting it (chromium.ts, prepare.ts of test/containers and test/kubernetes), nor running the tests (run.ts).
// Implements: `npm test -- <file>` prepares only what that file needs.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A preparation: something to fetch or build first. */
export type Need =
  | 'chromium'
  | 'containers'
  | 'database'
  | 'goClient'
  | 'helm'
  | 'kstatus'
  | 'kubernetes'
  | 'node'
  | 'patroni'
  | 'pythonClient'
  | 'samlTools'
  | 'scimTester'
  | 'slapd'
  | 'spire';

/** Modules whose importers need a preparation. */
const files: Record<string, Need> = {
  'containers/engine.ts': 'containers',
  'kubernetes/assets.ts': 'kubernetes',
  'node/node.ts': 'node',
  'support/chromium.ts': 'chromium',
  'support/database.ts': 'database',
  'support/go-client.ts': 'goClient',
  'support/patroni.ts': 'patroni',
  'support/python-client.ts': 'pythonClient',
  'support/saml-tools.ts': 'samlTools',
  'support/scim-tester.ts': 'scimTester',
  'support/slapd.ts': 'slapd',
};

/** The needs of one test file: it reaches them through its imports within `test/`. */
export function needsOf(file: string, tests = path.resolve(import.meta.dirname, '..')): Set<Need> {
  const needs = new Set<Need>();
  visit(file, tests, new Set(), needs);
  return needs;
}

// `import … from './x.ts'`, `export … from './x.ts'` and `import './x.ts'` at the start of a line, where no string
// has them; `import('./x.ts')` anywhere
const relativeImport = /(?:^(?:import|export)\b|\bimport\()([^;'"`]*)['"](\.{1,2}\/[^'"]+)['"]/gm;

function visit(file: string, tests: string, seen: Set<string>, needs: Set<Need>): void {
  if (seen.has(file) || !file.startsWith(tests + path.sep) || !existsSync(file)) return;
  seen.add(file);
  const name = path.relative(tests, file).split(path.sep).join('/');
  const need = files[name];
  if (need) needs.add(need);
  for (const [, names = '', target = ''] of readFileSync(file, 'utf8').matchAll(relativeImport)) {
    if (/^\s*type\b/.test(names)) continue;
    if (target.endsWith('kubernetes/assets.ts') && /\bhelm\b/.test(names)) needs.add('helm');
    if (target.endsWith('/assets.ts') && /\bkstatus\b/.test(names)) needs.add('kstatus');
    if (target.endsWith('/assets.ts') && /\bspire\b/.test(names)) needs.add('spire');
    visit(path.resolve(path.dirname(file), target), tests, seen, needs);
  }
}
