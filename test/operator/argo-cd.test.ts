// deploy/argo-cd is what Argo CD's project takes as a built-in check (resource_customizations of its repository, `_` for any
// kind): its own tests pass, and docs/gitops.md gives the very same script to whoever can't wait for that.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { kindNames } from '../../operator/resource.ts';
import { argoCheck, judge, kstatusAssets } from '../kubernetes/kstatus.ts';

const assets = await kstatusAssets();
const folder = path.dirname(argoCheck);
const Tests = z.object({
  tests: z.array(
    z.object({ healthStatus: z.object({ status: z.string(), message: z.string() }), inputPath: z.string() }),
  ),
});
const { tests } = Tests.parse(parse(await readFile(path.join(folder, 'health_test.yaml'), 'utf8')));

test('docs/gitops.md gives this script, for all four kinds', async () => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/gitops.md'), 'utf8');
  const yaml = /```yaml\n(apiVersion: v1\nkind: ConfigMap\n[\s\S]+?)```/.exec(text)?.[1] ?? '';
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(parse(yaml));
  expect(Object.keys(data)).toEqual(kindNames.map((kind) => `resource.customizations.health.realmkeeper.dev_${kind}`));
  expect(new Set(Object.values(data))).toEqual(new Set([await readFile(argoCheck, 'utf8')]));
});

test('each status that is kept there is judged', async () => {
  const kept = (await readdir(path.join(folder, 'testdata'))).map((file) => `testdata/${file}`);
  expect(tests.map(({ inputPath }) => inputPath).sort()).toEqual(kept.sort());
});

describe.skipIf(!assets.found)('Argo CD’s own test', () => {
  test.for(tests)('$inputPath is $healthStatus.status', async ({ inputPath, healthStatus }) => {
    const object: unknown = parse(await readFile(path.join(folder, inputPath), 'utf8'));
    expect((await judge(JSON.stringify(object), argoCheck)).argo).toEqual(healthStatus);
  });
});
