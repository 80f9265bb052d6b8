// A setting that nothing reads says so wherever it is shown, and one that is read doesn't.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { notInEffect, settingNames, settingsShape } from '../../server/contract/settings.ts';

const root = path.resolve(import.meta.dirname, '../..');
const readers = globSync('server/**/*.ts', { cwd: root })
  // Who moves a setting here from another server doesn't read it either.
  .filter(
    (file) =>
      !/^server\/(contract\/settings|features\/configuration\/settings\/|features\/operations\/transfer\/keycloak\/)/.test(
        file,
      ),
  )
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n');

test('settings that no code names are just those that are marked as not in effect', () => {
  const unread = settingNames.filter((name) => !new RegExp(`\\b${name}\\b`).test(readers));
  expect([...notInEffect].sort()).toEqual(unread.sort());
});

test('the mark stands in what the API and the custom resource say of a setting', () => {
  const marked = settingNames.filter((name) => settingsShape[name].description?.startsWith('Not in effect yet.'));
  expect(marked.sort()).toEqual([...notInEffect].sort());
});
