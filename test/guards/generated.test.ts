import { expect, test } from 'vitest';
import { generatedFiles, outdated } from '../../server/generate.ts';

test('what is generated and committed is what the code says now', async () => {
  expect(await outdated(await generatedFiles())).toEqual([]);
});
