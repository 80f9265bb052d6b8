import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needsOf } from './needs.ts';

let folder: string;

beforeAll(async () => {
  // within test/, since only imports that stay there are followed
  folder = await fs.mkdtemp(path.join(import.meta.dirname, 'needs-'));
});

afterAll(() => fs.rm(folder, { recursive: true }));

test.each([
  ['nothing', "import { test } from 'vitest';\nimport '../report.ts';", []],
  ['a browser', "import { test } from 'vitest';\nimport { launchBrowser } from '../chromium.ts';", ['chromium']],
  ['a browser through another file', "import { open } from './page.ts';", ['chromium']],
  ['a browser, loaded late', "const { open } = await import('./page.ts');", ['chromium']],
  ['only a type', "import type { Cluster } from '../../kubernetes/cluster.ts';", []],
  ['a cluster', "import {\n  type Cluster,\n  startCluster,\n} from '../../kubernetes/cluster.ts';", ['kubernetes']],
  ['kstatus', "import { judge } from '../../kubernetes/kstatus.ts';", ['kstatus', 'kubernetes']],
  ['Helm', "import { helm } from '../../kubernetes/assets.ts';", ['helm', 'kubernetes']],
])('a file that imports %s needs that', async (_, text, needs) => {
  await fs.writeFile(path.join(folder, 'page.ts'), "export * from '../chromium.ts';\nimport './some.ts';");
  const file = path.join(folder, 'some.ts');
  await fs.writeFile(file, text);
  expect([...needsOf(file)].sort()).toEqual(needs);
});
