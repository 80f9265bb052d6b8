// The README's way to deploy holds together; test/node runs it on a node.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { deployCommands, deployedImage, deployWords } from './readme.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('what is built is what the chart runs: the name by its registry, the tag by its version', async () => {
  const chart = parse(await readFile(path.join(root, 'charts/realmkeeper/Chart.yaml'), 'utf8'));
  const values = parse(await readFile(path.join(root, 'charts/realmkeeper/values.yaml'), 'utf8'));
  const { name, tag } = deployedImage();
  expect(tag).toBe(chart.appVersion);
  const install = deployWords('helm', 'install');
  expect(install).toContain(`image.registry=${name.slice(0, -`/${values.image.repository}`.length)}`);
  expect(deployCommands().flat()).toEqual(expect.arrayContaining(['--push', '--create-namespace']));
});

test('the cluster gets a name, and the guide begins likewise', async () => {
  const install = deployWords('helm', 'install');
  expect(install.join(' ')).toMatch(/--set operator\.clusterName=\S+/);
  const guide = await readFile(path.join(root, 'docs/install.md'), 'utf8');
  expect(deployCommands(guide.replace('## A trial', '## Deploy'))).toEqual([['helm', 'install', ...install]]);
});

test('a line that goes on is one command', () => {
  expect(deployCommands('## Deploy\n\n```sh\nhelm install a \\\n  b --set c=d\nhelm test a\n```')).toEqual([
    ['helm', 'install', 'a', 'b', '--set', 'c=d'],
    ['helm', 'test', 'a'],
  ]);
});
