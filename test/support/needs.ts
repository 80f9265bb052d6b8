// Owns: what has to be on the machine before a test file can run, read from the file's imports.
// Does not own: getting it (chromium.ts, test/kubernetes/prepare.ts), nor running the tests (run.ts).
// Implements: `npm test -- <file>` prepares only what that file needs.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What may have to be fetched or built first. */
export type Need = 'chromium' | 'kubernetes';

const tests = path.resolve(import.meta.dirname, '..');

/** The needs of one test file: it reaches them through its imports within `test/`. */
export function needsOf(file: string): Set<Need> {
  const needs = new Set<Need>();
  for (const reached of reachable(file)) {
    const name = path.relative(tests, reached);
    if (name === path.join('support', 'chromium.ts')) needs.add('chromium');
    if (name.startsWith(`kubernetes${path.sep}`) && !name.endsWith('.test.ts')) needs.add('kubernetes');
  }
  return needs;
}

function reachable(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !file.startsWith(tests + path.sep) || !existsSync(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  // `import … from './x.ts'`, `export … from`, `import './x.ts'` and `import('./x.ts')`, but no types
  for (const [statement, target = ''] of text.matchAll(/(?:import|export)\b[^;'"`]*['"](\.{1,2}\/[^'"]+)['"]/g)) {
    if (!/^(?:import|export) type\b/.test(statement)) reachable(path.resolve(path.dirname(file), target), seen);
  }
  return seen;
}
