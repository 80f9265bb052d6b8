// Owns: the resources that docs/resources.md shows.
// Does not own: what is tested on them (test/operator/documented.test.ts, dry-run.test.ts).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { kindNames } from '../../operator/resource.ts';

const Example = z.object({
  apiVersion: z.literal('realmkeeper.dev/v1alpha1'),
  kind: z.enum(kindNames),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.record(z.string(), z.unknown()),
});
export type Example = z.infer<typeof Example>;

const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/resources.md'), 'utf8');
export const examples: Example[] = [...text.matchAll(/```yaml\n([\s\S]+?)```/g)]
  .map(([, yaml = '']) => parse(yaml))
  .filter((document) => 'kind' in document)
  .map((document) => Example.parse(document));
