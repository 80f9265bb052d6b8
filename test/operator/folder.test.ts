// What happens to a folder while it is being read: nothing that people or passes wrote meanwhile is lost. One of its files is
// a pipe, so that reading stands still for as long as the test likes.
import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { keyOf } from '../../operator/resource.ts';
import { folderSource } from '../../operator/source/folder.ts';
import type { Source } from '../../operator/source/source.ts';
import { createFolder, eventually, type Folder, resource } from '../support/operator.ts';

const key = keyOf('Realm', 'default', 'acme');
const acme = (displayName: string) => resource('Realm', 'acme', { realm: 'acme', settings: { displayName } });
const other = resource('Realm', 'other', { realm: 'other' });
const listener = { changed: () => {}, secretChanged: () => {} };
let folder: Folder;
let pipe: string;
let source: Source;

/** Lets the pipe be read once; `before` runs while the reader waits. */
async function feed(before: () => Promise<void> = async () => {}): Promise<void> {
  const end = await open(pipe, 'w');
  await before();
  await end.writeFile(stringify(other));
  await end.close();
}
/** From now on nothing stands still: a plain file takes the pipe's place, and who waits at the pipe goes on. */
async function release(): Promise<void> {
  const both = await open(pipe, 'r+');
  await folder.write('z.yaml', other);
  await both.close();
}

beforeEach(async () => {
  folder = await createFolder();
  pipe = path.join(folder.dir, 'z.yaml');
  await promisify(execFile)('mkfifo', [pipe]);
  await folder.write('a.yaml', acme('One'));
  source = folderSource({ dir: folder.dir, log: () => {} });
});
afterEach(async () => {
  await source.stop();
  await release();
  await folder.drop();
});

test('a file that changes while the folder is read for the first time is read again', async () => {
  const starting = source.start(listener);
  await feed(() => folder.write('a.yaml', acme('Two')));
  await starting;
  expect(source.get(key)?.spec).toMatchObject({ settings: { displayName: 'One' } });
  await release();
  await eventually(() => expect(source.get(key)?.spec).toMatchObject({ settings: { displayName: 'Two' } }));
});

test('a status that is written while the folder is read again stays', async () => {
  const starting = source.start(listener);
  await feed();
  await starting;
  await folder.write('b.yaml', resource('Realm', 'later', { realm: 'later' }));
  await feed(async () => {
    const held = source.get(key);
    if (held) await source.writeStatus(held, { observedGeneration: 7 });
  });
  await eventually(() => expect(source.get(keyOf('Realm', 'default', 'later'))).toBeDefined());
  expect(source.get(key)?.status).toEqual({ observedGeneration: 7 });
});
