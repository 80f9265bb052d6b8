// What `helm test` runs in its Pod, run here against a real server: it passes where all is well, and only there.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../kubernetes/processes.ts';
import { startTestServer } from '../support/server.ts';
import { helmAssets, render } from './helm.ts';

const assets = await helmAssets();
const Pod = z.object({ spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()) })]) }) });

async function ask(server: string, base: string) {
  const pod = (await render(['--set', `server.baseUrl=${base}`])).find(({ kind }) => kind === 'Pod');
  const [{ args }] = Pod.parse(pod).spec.containers;
  const there = args.map((arg) => (arg.startsWith('http://realmkeeper-server.') ? server : arg));
  return run(process.execPath, there);
}

describe.skipIf(!assets.found)('helm test', () => {
  test('passes on a server that is ready and has its address, and says so', async () => {
    const server = await startTestServer();
    try {
      expect(await ask(server.baseUrl, server.baseUrl)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('ready'),
      });
      const wrong = await ask(server.baseUrl, 'https://id.example.com');
      expect(wrong).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('server.baseUrl is https://id.example.com'),
      });
    } finally {
      await server.stop();
    }
    expect((await ask(server.baseUrl, server.baseUrl)).code).toBe(1);
  });
});
