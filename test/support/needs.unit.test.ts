import { globSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Need, needsOf } from './needs.ts';
import { projects } from './projects.ts';

let folder: string;
const write = async (name: string, text: string) => {
  const file = path.join(folder, name);
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, text);
  return file;
};

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'needs-'));
  for (const name of ['support/chromium.ts', 'support/database.ts', 'kubernetes/assets.ts']) await write(name, '');
  await write('support/server.ts', "import { createDatabase } from './database.ts';");
  await write('kubernetes/cluster.ts', "import { findAssets } from './assets.ts';");
  await write('kubernetes/kstatus.ts', "import { findAssets, kstatus } from './assets.ts';");
  await write('browser/page.ts', "export * from '../support/chromium.ts';");
});

afterAll(() => fs.rm(folder, { recursive: true }));

test.each([
  ['nothing', "import { test } from 'vitest';\nimport '../report.ts';", []],
  [
    'a browser',
    "import { test } from 'vitest';\nimport { launchBrowser } from '../support/chromium.ts';",
    ['chromium'],
  ],
  ['a browser through another file', "import { open } from './page.ts';", ['chromium']],
  ['a browser, loaded late', "const { open } = await import('./page.ts');", ['chromium']],
  ['only a type', "import type { Cluster } from '../kubernetes/cluster.ts';", []],
  ['a database', "import { startTestServer } from '../support/server.ts';", ['database']],
  ['a cluster', "import {\n  type Cluster,\n  startCluster,\n} from '../kubernetes/cluster.ts';", ['kubernetes']],
  ['kstatus', "import { judge } from '../kubernetes/kstatus.ts';", ['kstatus', 'kubernetes']],
  ['Helm', "import { helm } from '../kubernetes/assets.ts';", ['helm', 'kubernetes']],
])('a file that imports %s needs that', async (_, text, needs) => {
  const file = await write('browser/some.test.ts', text);
  expect([...needsOf(file, folder)].sort()).toEqual(needs);
});

/** The preparations that a project's tests may need. */
const may: Record<keyof typeof projects, Need[]> = {
  unit: [],
  server: ['database', 'slapd'],
  cluster: ['database', 'helm', 'kstatus', 'kubernetes'],
  browser: ['chromium', 'database'],
  long: [
    'chromium',
    'containers',
    'database',
    'goClient',
    'helm',
    'kstatus',
    'kubernetes',
    'node',
    'patroni',
    'pythonClient',
    'samlTools',
    'scimTester',
    'slapd',
    'spire',
  ],
};

test('every test file is in one project, and needs nothing that is not for this project to need', () => {
  const matches = (file: string, globs: string[]) => globs.some((glob) => path.matchesGlob(file, glob));
  for (const file of globSync('test/**/*.test.ts')) {
    const names = (Object.keys(may) as (keyof typeof may)[]).filter(
      (name) => matches(file, projects[name].include) && !matches(file, projects[name].exclude),
    );
    expect(names, file).toHaveLength(1);
    for (const name of names)
      expect(may[name], `${file} is in ${name}`).toEqual(expect.arrayContaining([...needsOf(path.resolve(file))]));
  }
});
