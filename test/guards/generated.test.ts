import { expect, test } from 'vitest';
import { generatedFiles, outdatedFiles } from '../../server/generate.ts';

test('what is generated and committed is what the code says now', async () => {
  expect(await outdatedFiles(await generatedFiles())).toEqual([]);
});
