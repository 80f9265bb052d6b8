// Owns: the images of a node: what holds a Pod's namespaces, and PostgreSQL as the chart expects it.
// Does not own: the image of Realmkeeper (test/containers/images.ts).
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { importFolder, podman } from '../containers/engine.ts';
import { obtainPostgres, postgresImage } from '../containers/images.ts';

export const PAUSE = 'localhost/pause:node';
/** In place of the official image, which is on no machine without a registry. */
export const POSTGRESQL = 'localhost/realmkeeper-postgresql:18';

/** Of the program that is among a node's. */
export async function makePause(assets: string): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-pause-'));
  try {
    await mkdir(path.join(folder, 'root'));
    await copyFile(path.join(assets, 'pause'), path.join(folder, 'root/pause'));
    await importFolder(path.join(folder, 'root'), PAUSE, ['ENTRYPOINT ["/pause"]']);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function obtainPostgresql(log: (message: string) => void): Promise<void> {
  await obtainPostgres(18, log);
  await podman([
    ...[
      'build',
      '-q',
      '--network',
      'host',
      '--ulimit',
      'nofile=4096:4096',
      '--build-arg',
      `BASE=${postgresImage('18')}`,
    ],
    ...['-t', POSTGRESQL, path.join(import.meta.dirname, 'postgresql')],
  ]);
}
