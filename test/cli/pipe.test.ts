// `realmctl … | head`: whoever reads has gone before everything was said.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';

const program = path.resolve(import.meta.dirname, '../../cli/main.ts');

test('an output that nobody reads any more ends the run, and not as if all had been done', async () => {
  const child = spawn(process.execPath, [program, 'crds'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([141, '']);
});
