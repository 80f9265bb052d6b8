// Owns: whatever is wrong with a request below /scim/v2, the answer is SCIM's error, also where no route ever sees the request.
// Does not own: what a route refuses (scim.users.test.ts and the others).
// Implements: RFC 7644 §3.12; decisions "Errors".
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { scimToken } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let head = '';
const at = '/realms/acme/scim/v2';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
  head = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${await scimToken(server, 'acme')}\r\n`;
});
afterAll(() => server?.stop());

/** What comes back for bytes that are sent as they are. */
const answerTo = (bytes: string) =>
  new Promise<{ status: number; type: string | undefined; body: string }>((resolve) => {
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    // Whoever sent too much is cut off behind the answer.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const [top = '', body = ''] = text.split('\r\n\r\n');
      const [, status = ''] = top.split(' ');
      resolve({ status: Number(status), type: /^content-type: ([^;\r]+)/im.exec(top)?.[1], body });
    });
  });
const long = 'a'.repeat(40_000);
const json = 'Content-Type: application/scim+json\r\n';

describe('an error below /scim/v2 is SCIM’s', () => {
  test.each<[string, number, string]>([
    ['headers that are too large', 431, `GET ${at}/Users HTTP/1.1\r\n%X-Large: ${long}\r\n\r\n`],
    ['an address that is too long', 431, `GET ${at}/Users?filter=${long} HTTP/1.1\r\n%\r\n`],
    ['a method that HTTP doesn’t have', 400, `FROB ${at}/Users HTTP/1.1\r\n%\r\n`],
    ['a length that is no number', 400, `POST ${at}/Users HTTP/1.1\r\n%${json}Content-Length: 1x\r\n\r\n{}`],
    [
      'two lengths',
      400,
      `POST ${at}/Users HTTP/1.1\r\n%${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    ['a path that isn’t encoded', 400, `GET ${at}/Users/%zz HTTP/1.1\r\n%\r\n`],
    ['an id that is longer than any', 404, `GET ${at}/Users/${'a'.repeat(3000)} HTTP/1.1\r\n%\r\n`],
    ['an address that isn’t there', 404, `GET ${at}/Things HTTP/1.1\r\n%\r\n`],
    ['the same for a browser', 404, `GET ${at}/Things HTTP/1.1\r\n%Accept: text/html\r\n\r\n`],
    ['a realm that isn’t there', 404, 'GET /realms/nowhere/scim/v2/Users HTTP/1.1\r\n%\r\n'],
    ['a method that the address doesn’t know', 405, `DELETE ${at}/Users HTTP/1.1\r\n%Accept: text/html\r\n\r\n`],
    ['XML', 415, `POST ${at}/Users HTTP/1.1\r\n%Content-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>`],
    ['a body without a type', 415, `POST ${at}/Users HTTP/1.1\r\n%Content-Length: 2\r\n\r\n{}`],
    ['a body that is too large', 413, `POST ${at}/Users HTTP/1.1\r\n%${json}Content-Length: 3000000\r\n\r\n{}`],
    ['what is no JSON', 400, `POST ${at}/Users HTTP/1.1\r\n%${json}Content-Length: 3\r\n\r\n{a}`],
    ['a prototype', 400, `POST ${at}/Users HTTP/1.1\r\n%${json}Content-Length: 22\r\n\r\n{"__proto__":{"a":1}}\n`],
  ])('%s', async (_, status, bytes) => {
    const answer = await answerTo(bytes.replace('\n%', `\n${head}`));
    expect([answer.status, answer.type]).toEqual([status, 'application/scim+json']);
    expect(JSON.parse(answer.body)).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      detail: expect.stringMatching(/./),
    });
  });

  test('and elsewhere such a request is answered by a problem', async () => {
    const large = await answerTo(`GET /admin/realms HTTP/1.1\r\nHost: x\r\nX-Large: ${long}\r\n\r\n`);
    expect(large).toMatchObject({ status: 431, type: 'application/problem+json' });
    expect(JSON.parse(large.body)).toMatchObject({ type: 'urn:svc:problem:headers-too-large', status: 431 });
    const junk = await answerTo('this is no HTTP\r\n\r\n');
    expect(junk).toMatchObject({ status: 400, type: 'application/problem+json' });
    expect(JSON.parse(junk.body)).toMatchObject({ type: 'urn:svc:problem:invalid-request', status: 400 });
  });
});
