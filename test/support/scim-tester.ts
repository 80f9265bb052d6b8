// Owns: scim2-tester, a SCIM client that checks servers: getting it with Python's package manager, and running it.
// Does not own: what it finds (test/server/features/scim.tester.long.test.ts).
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createVenv } from './python.ts';

const execute = promisify(execFile);
const venv = createVenv('scim2-tester', [
  'scim2-tester==0.5.2',
  'scim2-client[httpx2]==0.13.2',
  'scim2-models==0.12.3',
]);

/** @throws where there is no Python of 3.11 or newer, or no registry to get it from */
export const obtainScimTester = venv.obtain;

export interface Finding {
  status: string;
  title: string;
  of: string | null;
  reason: string | null;
}

export async function runScimTester(base: string, token: string): Promise<Finding[]> {
  const script = path.join(import.meta.dirname, 'scim-tester.py');
  const { stdout } = await execute(venv.python, [script, base, token], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}
