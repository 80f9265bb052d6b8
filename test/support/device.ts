// Owns: a reference device: it enrols, reads what waits and approves, denies or confirms over the real endpoints, as docs/devices.md
// says an app does.
// Does not own: how pushes reach it (a gateway's business), the server's side of any of it.
// Implements: tests of devices, pushes, QR codes and transactions.
import { CompactSign, exportJWK, generateKeyPair } from 'jose';

export type Algorithm = 'ES256' | 'EdDSA';
export interface Answered {
  status: number;
  // Each test knows the shape of its answer.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
}

export interface DeviceOptions {
  algorithm?: Algorithm;
  name?: string;
  push?: { platform: 'fcm' | 'apns'; token: string };
  /** Seconds since 1970. */
  clock?: () => number;
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** @param url what the QR code of an enrolment holds */
export async function createDevice(
  url: string,
  { algorithm = 'ES256', name = 'Phone', push, clock = () => Math.floor(Date.now() / 1000) }: DeviceOptions = {},
) {
  const [at = '', token = ''] = url.split('#');
  const realm = at.replace(/\/device\/enroll$/, '');
  const { privateKey, publicKey } = await generateKeyPair(algorithm, algorithm === 'EdDSA' ? { crv: 'Ed25519' } : {});
  const { kty, crv, x, y } = await exportJWK(publicKey);
  let id = '';

  const sign = (claims: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify({ iat: clock(), ...claims })))
      .setProtectedHeader({ alg: algorithm, typ: 'device+jwt', ...(id !== '' && { kid: id }), ...header })
      .sign(privateKey);
  const bearer = { authorization: `Bearer ${token}` };
  const json = { 'content-type': 'application/json' };

  /** A request by the device; `claims` go into what it signs. */
  async function ask(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    claims: Record<string, unknown> = {},
    body?: object,
  ): Promise<Answered> {
    const address = path.startsWith('http') ? path : `${realm}${path}`;
    const jws = await sign({ aud: address.split('?')[0], ...claims });
    const headers = { authorization: `Device ${jws}`, ...(body && json) };
    return answered(await fetch(address, { method, headers, ...(body && { body: JSON.stringify(body) }) }));
  }

  return {
    id: () => id,
    realm,
    sign,
    ask,
    start: async () => answered(await fetch(`${realm}/device/enroll/start`, { method: 'POST', headers: bearer })),
    /** @param change of what an honest device would send */
    async enrol(change: Record<string, unknown> = {}, claims: Record<string, unknown> = {}): Promise<Answered> {
      const { challenge } = (await this.start()).body;
      const proof = await sign({ aud: at, challenge, ...claims });
      const body = { name, publicKey: { kty, crv, x, ...(y && { y }) }, proof, ...(push && { push }), ...change };
      const sent = { method: 'POST', headers: { ...bearer, ...json }, body: JSON.stringify(body) };
      const answer = await answered(await fetch(at, sent));
      if (answer.status === 201) id = answer.body.deviceId;
      return answer;
    },
    waiting: () => ask('GET', '/push'),
    read: (push: string) => ask('GET', `/push/${push}`),
    /** Reads what it approves first, as an app does. */
    async approve(push: string, number: string): Promise<Answered> {
      const { body } = await ask('GET', `/push/${push}`);
      return ask('POST', `/push/${push}/approve`, { challenge: body?.challenge, number });
    },
    async deny(push: string): Promise<Answered> {
      const { body } = await ask('GET', `/push/${push}`);
      return ask('POST', `/push/${push}/deny`, { challenge: body?.challenge });
    },
    /** @param address what the QR code of a sign-in holds */
    async confirm(address: string): Promise<Answered> {
      const { body, status } = await ask('GET', address);
      if (status !== 200) return { status, body };
      const [path = '', query = ''] = address.split('?');
      return ask('POST', `${path}/confirm?${query}`, { challenge: body.challenge });
    },
  };
}
export type Device = Awaited<ReturnType<typeof createDevice>>;
