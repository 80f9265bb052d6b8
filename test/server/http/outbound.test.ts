import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type net from 'node:net';
import type { LookupFunction } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound, type Outbound, type OutboundOptions } from '../../../server/http/outbound.ts';
import { OutboundError } from '../../../server/http/outbound-connection.ts';
import { freePort } from '../../support/free-port.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const LIMITS = { timeoutMs: 60_000, maxBytes: 1_000 };
let receiver: Receiver;
const open: Outbound[] = [];

beforeAll(async () => {
  receiver = await startReceiver({ names: ['hooks.example', 'cluster.example'] });
});
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => ({ body: 'hello' });
});
afterEach(() => Promise.all(open.splice(0).map((outbound) => outbound.close())));

function outbound(options: OutboundOptions = {}): Outbound {
  const made = createOutbound({ caFile: receiver.caFile, ...options });
  open.push(made);
  return made;
}
/** A resolver that gives each answer in turn, and the last one from then on. */
function resolving(...answers: string[][]): LookupFunction {
  let asked = 0;
  return (_host, options, callback) => {
    const found = (answers[Math.min(asked, answers.length - 1)] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    asked += 1;
    const [first] = found;
    if (options.all) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };
}
const fault = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  return error instanceof OutboundError ? error.fault : `no fault: ${error}`;
};

describe('who may be reached', () => {
  test('an allowed loopback address answers, with its status, headers and bytes', async () => {
    receiver.answer = () => ({ status: 201, headers: { 'x-a': 'b' }, body: 'hello' });
    const answer = await outbound({ allow: ['127.0.0.1'] }).fetch(`${receiver.url}/x?y=1`, {
      method: 'POST',
      body: 'sent',
      headers: { 'x-sent': '1' },
      ...LIMITS,
    });
    expect([answer.status, answer.headers.get('x-a'), answer.body.toString()]).toEqual([201, 'b', 'hello']);
    const [got] = receiver.received;
    expect([got?.method, got?.url, got?.raw.toString(), got?.headers['x-sent']]).toEqual([
      'POST',
      '/x?y=1',
      'sent',
      '1',
    ]);
  });

  test.each([
    'https://127.0.0.1',
    'https://localhost',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://0x7f.1',
    'https://2130706433',
    'https://10.0.0.1',
    'https://169.254.169.254',
    'https://[fe80::1]',
    'https://[64:ff9b::7f00:1]',
  ])('%s is refused before anything is sent', async (url) => {
    expect(await fault(outbound().fetch(`${url}:${receiver.port}/`, LIMITS))).toBe('refused-address');
    expect(receiver.received).toEqual([]);
  });

  test('the refusal says what could permit it; the address that a name has inside is for the log alone', async () => {
    const logged: string[] = [];
    const log = (message: string) => void logged.push(message);
    const inside = outbound({ lookup: resolving(['10.20.30.40']), log });
    await expect(inside.fetch('https://db.internal/', LIMITS)).rejects.toThrow(
      /^db\.internal does not answer, or is at no public address; SVC_OUTBOUND_ALLOW could permit it$/,
    );
    const port = await freePort();
    const allowed = outbound({ allow: ['db.internal'], lookup: resolving(['127.0.0.1']), log });
    await expect(allowed.fetch(`https://db.internal:${port}/`, LIMITS)).rejects.toThrow(
      /^db\.internal does not answer, or is at no public address; SVC_OUTBOUND_ALLOW could permit it$/,
    );
    expect(logged).toEqual([
      'db.internal: at 10.20.30.40, which is not public',
      `db.internal:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    ]);
  });

  test('a name that nobody has is refused in the very words of one inside, and the log says which it was', async () => {
    const logged: string[] = [];
    const lookup: net.LookupFunction = (hostname, _, callback) => {
      const nobody = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
      if (hostname.startsWith('made-up')) callback(nobody, [], 0);
      else callback(null, [{ address: '10.20.30.40', family: 4 }]);
    };
    const guard = outbound({ lookup, log: (message) => void logged.push(message) });
    const told = async (host: string) => {
      const errors = [
        await guard.fetch(`https://${host}/`, LIMITS).catch((e: unknown) => e),
        await guard.connect({ host, port: 25, timeoutMs: 1_000 }).catch((e: unknown) => e),
      ];
      return errors.map((e) => (e instanceof OutboundError ? `${e.fault} ${e.message.replace(host, 'HOST')}` : `${e}`));
    };
    expect(await told('made-up.internal')).toEqual(await told('db.internal'));
    expect(logged.filter((line) => line.startsWith('made-up.internal: ') && line.includes('ENOTFOUND'))).toHaveLength(
      2,
    );
    expect(logged.filter((line) => line === 'db.internal: at 10.20.30.40, which is not public')).toHaveLength(2);
  });

  test('a name is judged by the address that is dialled: one that turns private between two look-ups is refused', async () => {
    const url = `https://hooks.example:${receiver.port}/`;
    const rebinding = outbound({ lookup: resolving(['192.0.2.1'], ['127.0.0.1']) });
    expect(await fault(rebinding.fetch(url, LIMITS))).toBe('refused-address');
    expect(await fault(rebinding.fetch(url, LIMITS))).toBe('refused-address');
    // A public address first: whatever it is connected to then, it is not the private one of the second answer.
    const later = outbound({ lookup: resolving(['8.8.8.8'], ['127.0.0.1']) });
    expect(await fault(later.fetch(url, { ...LIMITS, timeoutMs: 300 }))).not.toBe('refused-address');
    expect(await fault(later.fetch(url, LIMITS))).toBe('refused-address');
    expect(receiver.received).toEqual([]);
  });

  test('of a mixed answer the private addresses are never dialled', async () => {
    const url = `https://hooks.example:${receiver.port}/`;
    const mixed = outbound({ lookup: resolving(['127.0.0.1', '::1', '8.8.8.8']) });
    expect(await fault(mixed.fetch(url, { ...LIMITS, timeoutMs: 300 }))).not.toMatch(/no fault|refused/);
    expect(receiver.received).toEqual([]);
  });

  test('an allowed host name is reached where others at the same address are not', async () => {
    const guard = outbound({ allow: [`hooks.example:${receiver.port}`], lookup: resolving(['127.0.0.1']) });
    expect((await guard.fetch(`https://hooks.example:${receiver.port}/`, LIMITS)).status).toBe(200);
    expect(await fault(guard.fetch(`https://cluster.example:${receiver.port}/`, LIMITS))).toBe('refused-address');
  });

  test.each(['http://127.0.0.1/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'https://user:pw@127.0.0.1/', 'nonsense'])(
    '%s is not an address to go to',
    async (url) => expect(await fault(outbound({ allow: ['127.0.0.1'] }).fetch(url, LIMITS))).toBe('bad-url'),
  );

  test('http is taken where it is asked for', async () => {
    const server = createServer((_, response) => response.end('plain'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const answer = await outbound({ allow: ['127.0.0.1'] }).fetch(`http://127.0.0.1:${port}/`, {
      ...LIMITS,
      httpsOnly: false,
    });
    expect(answer.body.toString()).toBe('plain');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a certificate of an unknown authority is refused', async () => {
    const plain = createOutbound({ allow: ['127.0.0.1'] });
    open.push(plain);
    expect(await fault(plain.fetch(receiver.url, LIMITS))).toBe('failed');
  });
});

describe('how much is taken', () => {
  test('one that speaks no TLS is named so, without the words of OpenSSL', async () => {
    const plain = createServer((_, answer) => answer.end('plain'));
    await new Promise<void>((listens) => plain.listen(0, '127.0.0.1', listens));
    const { port } = plain.address() as net.AddressInfo;
    try {
      await expect(outbound({ allow: ['127.0.0.1'] }).fetch(`https://127.0.0.1:${port}/`, LIMITS)).rejects.toThrow(
        /: it speaks no TLS at this port$/,
      );
    } finally {
      plain.close();
    }
  });

  test('a redirect is answered, not followed', async () => {
    receiver.answer = () => ({ status: 302, headers: { location: `${receiver.url}/elsewhere` } });
    const answer = await outbound({ allow: ['127.0.0.1'] }).fetch(receiver.url, LIMITS);
    expect(answer.status).toBe(302);
    expect(receiver.received).toHaveLength(1);
  });

  test('a longer answer is refused, or cut where that is asked for', async () => {
    receiver.answer = () => ({ body: Buffer.alloc(5_000_000, 'a') });
    const guard = outbound({ allow: ['127.0.0.1'] });
    expect(await fault(guard.fetch(receiver.url, LIMITS))).toBe('too-large');
    const cut = await guard.fetch(receiver.url, { ...LIMITS, excess: 'cut' });
    expect([cut.status, cut.body.length]).toEqual([200, 1_000]);
  });

  test('an answer that does not come in time is given up', async () => {
    receiver.answer = () => ({ afterMs: 600_000 });
    const guard = outbound({ allow: ['127.0.0.1'] });
    expect(await fault(guard.fetch(receiver.url, { ...LIMITS, timeoutMs: 200 }))).toBe('timed-out');
  });

  test('an answer that begins and then stalls is given up in time, too', async () => {
    const server = createServer((_, response) => response.writeHead(200).write('begins'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const guard = outbound({ allow: ['127.0.0.1'] });
    const work = guard.fetch(`http://127.0.0.1:${port}/`, { ...LIMITS, timeoutMs: 300, httpsOnly: false });
    expect(await fault(work)).toBe('timed-out');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('compressed bytes are handed over as they came', async () => {
    receiver.answer = (request) => ({ body: String(request.headers['accept-encoding'] ?? 'none') });
    const { body } = await outbound({ allow: ['127.0.0.1'] }).fetch(receiver.url, LIMITS);
    expect(body.toString()).toBe('none');
  });
});

describe("the cluster's own issuer", () => {
  test('is asked with its CA and the server’s token for its keys alone, and nobody else gets the token', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cluster-'));
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, 'first\n');
    const issuer = `https://cluster.example:${receiver.port}`;
    const guard = createOutbound({
      allow: [`127.0.0.1:${receiver.port}`],
      cluster: { issuer, caFile: receiver.caFile, tokenFile },
      lookup: resolving(['127.0.0.1']),
    });
    open.push(guard);
    await guard.fetch(`${issuer}/.well-known/openid-configuration`, LIMITS);
    await writeFile(tokenFile, 'second');
    await guard.fetch(`${issuer}/openid/v1/jwks`, LIMITS);
    expect(receiver.received.map((r) => r.headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
    for (const url of [`${issuer}/api/v1/secrets`, `${issuer}/openid/v1/jwks?x=1`])
      expect(await fault(guard.fetch(url, LIMITS))).toBe('refused-address');
    expect(await fault(guard.fetch(`${issuer}/openid/v1/jwks`, { ...LIMITS, method: 'POST', body: '' }))).toBe(
      'refused-address',
    );
    // Another host at the same place: neither the token nor the cluster's CA.
    expect(await fault(guard.fetch(`${receiver.url}/openid/v1/jwks`, LIMITS))).toBe('failed');
    expect(receiver.received).toHaveLength(2);
    await rm(folder, { recursive: true });
  });

  test('is asked like any other where anybody can ask it, and never sees the token', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cluster-'));
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, 'secret');
    const other = await startReceiver({ names: ['cluster.example'] });
    const issuer = `https://cluster.example:${receiver.port}`;
    const publicly = (allow: string[]) => {
      const guard = createOutbound({
        allow,
        // stands for a public authority
        caFile: receiver.caFile,
        cluster: { issuer, caFile: other.caFile, tokenFile },
        lookup: resolving(['127.0.0.1']),
      });
      open.push(guard);
      return guard.fetch(`${issuer}/openid/v1/jwks`, LIMITS);
    };
    expect(await publicly([`cluster.example:${receiver.port}`])).not.toHaveProperty('atHome');
    // unreachable as anybody, it is asked as the cluster's; but this isn't who holds the cluster's certificate
    expect(await fault(publicly([]))).toBe('failed');
    expect(receiver.received.map((r) => r.headers.authorization)).toEqual([undefined]);
    await other.stop();
    await rm(folder, { recursive: true });
  });

  test('that turns strangers away is asked with the token, if it shows the cluster’s certificate', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cluster-'));
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, 'secret');
    receiver.answer = ({ headers }) => ({ status: headers.authorization === undefined ? 401 : 200 });
    const issuer = `https://cluster.example:${receiver.port}`;
    const guard = createOutbound({
      allow: [`cluster.example:${receiver.port}`],
      caFile: receiver.caFile,
      cluster: { issuer, caFile: receiver.caFile, tokenFile },
      lookup: resolving(['127.0.0.1']),
    });
    open.push(guard);
    expect(await guard.fetch(`${issuer}/openid/v1/jwks`, LIMITS)).toMatchObject({ status: 200, atHome: true });
    await rm(folder, { recursive: true });
  });
});
