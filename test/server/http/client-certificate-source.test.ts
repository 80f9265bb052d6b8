// Clients' certificates in the headers of proxies (RFC 8705 §6.5, RFC 9440): each form, and headers that count for nothing. The requests
// go to a plain HTTP server, as behind a proxy that ends the TLS connection.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../../server/crypto/tokens.ts';
import { type ClientCertificateHeaderForm, certificateHeaderForms } from '../../../server/http/client-certificate.ts';
import { createClientCertificateSource } from '../../../server/http/client-certificate-source.ts';
import { type Made, makeAuthority, makeCertificate } from '../../support/certificates.ts';

let own: Made;
let between: Made;
let stranger: Made;
beforeAll(async () => {
  between = await makeAuthority('CN=Between');
  own = await makeCertificate({ subject: 'CN=own', by: between });
  stranger = await makeCertificate({ subject: 'CN=stranger' });
});

type Lines = [name: string, value: string][];
/** What the source reads of a request with these header lines. */
async function read(
  lines: Lines,
  { form, name, proxies = ['127.0.0.1'] }: { form: ClientCertificateHeaderForm; name?: string; proxies?: string[] },
): Promise<{ own: string | undefined; chain: number }> {
  const source = createClientCertificateSource({ header: { form, name, proxies } });
  let found: { own: string | undefined; chain: number } = { own: undefined, chain: 0 };
  const server = createServer((asked, response) => {
    const certificate = source(asked);
    found = { own: certificate?.thumbprint, chain: certificate?.chain.length ?? 0 };
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', agent: false, headers: ['host', 'localhost', ...lines.flat()] });
  const [response] = await once(sent.end(), 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
  await once(response, 'end');
  await new Promise((resolve) => server.close(resolve));
  return found;
}

const base64 = ({ der }: Made) => der.toString('base64');
const hash = ({ der }: Made) => sha256(der).toString('hex');
const escaped = (...certificates: Made[]) => encodeURIComponent(certificates.map(({ pem }) => pem).join(''));
/** As load balancers of AWS do, which leave some signs as they are. */
const escapedByAws = (...certificates: Made[]) => encodeURI(certificates.map(({ pem }) => pem).join(''));

const forms: [ClientCertificateHeaderForm, string, () => Lines, number][] = [
  ['rfc9440', 'alone', () => [['Client-Cert', `:${base64(own)}:`]], 0],
  [
    'rfc9440',
    'with its chain',
    () => [
      ['Client-Cert', `:${base64(own)}:`],
      ['Client-Cert-Chain', `:${base64(between)}:, :${base64(stranger)}:`],
    ],
    2,
  ],
  ['nginx', 'alone', () => [['ssl-client-cert', escaped(own)]], 0],
  [
    'envoy',
    'in one element',
    () => [
      [
        'x-forwarded-client-cert',
        `By=spiffe://a/b;Hash=${hash(own)};Cert="${escaped(own)}";Subject="CN=\\"own\\", O=x;y";URI=spiffe://a/c`,
      ],
    ],
    0,
  ],
  [
    'envoy',
    'with its chain',
    () => [['x-forwarded-client-cert', `Hash=${hash(own).toUpperCase()};Chain="${escaped(own, between)}"`]],
    1,
  ],
  ['haproxy', 'alone', () => [['x-ssl-client-der', base64(own)]], 0],
  ['traefik', 'with its chain', () => [['X-Forwarded-Tls-Client-Cert', `${base64(own)},${base64(between)}`]], 1],
  ['aws-alb', 'with its chain', () => [['X-Amzn-Mtls-Clientcert', escapedByAws(own, between)]], 1],
  ['aws-alb-verify', 'alone', () => [['X-Amzn-Mtls-Clientcert-Leaf', escapedByAws(own)]], 0],
];

describe('A certificate comes from a configured proxy', () => {
  test.each(forms)('%s, %s', async (form, _, lines, chain) => {
    expect(await read(lines(), { form })).toEqual({ own: own.thumbprint, chain });
  });
  test('in a header of another name, if it is configured', async () => {
    expect(await read([['X-Client-Cert', escaped(own)]], { form: 'nginx', name: 'x-client-cert' })).toMatchObject({
      own: own.thumbprint,
    });
    expect(await read([['ssl-client-cert', escaped(own)]], { form: 'nginx', name: 'x-client-cert' })).toMatchObject({
      own: undefined,
    });
  });
});

describe('No certificate comes', () => {
  const none = { own: undefined, chain: 0 };
  test.each(forms)('from a stranger’s header: %s, %s', async (form, _, lines) => {
    expect(await read(lines(), { form, proxies: ['192.0.2.1', '10.0.0.0/8'] })).toEqual(none);
  });
  test('from a stranger who names a proxy as the address before it', async () => {
    const lines: Lines = [
      ['ssl-client-cert', escaped(own)],
      ['x-forwarded-for', '192.0.2.1'],
    ];
    expect(await read(lines, { form: 'nginx', proxies: ['192.0.2.1'] })).toEqual(none);
  });
  test.each(forms)('from the header of another form than the configured one: %s, %s', async (form, _, lines) => {
    for (const other of certificateHeaderForms)
      if (other !== form) expect(await read(lines(), { form: other }), other).toEqual(none);
  });
  test.each(forms)(
    'from a header that came twice, of which the client may have sent one: %s, %s',
    async (form, _, lines) => {
      const [[name = ''] = []] = lines();
      const theirs = lines().map(([header, value]): [string, string] => [
        header,
        value.replaceAll(base64(own), base64(stranger)),
      ]);
      expect(await read([...theirs, ...lines()], { form }), name).toEqual(none);
    },
  );
  test('from the elements of several proxies in a row', async () => {
    const element = (made: Made) => `Hash=${hash(made)};Cert="${escaped(made)}"`;
    expect(
      await read([['x-forwarded-client-cert', `${element(stranger)},${element(own)}`]], { form: 'envoy' }),
    ).toEqual(none);
    expect(
      await read([['x-forwarded-client-cert', `${element(stranger)};Cert="${escaped(own)}"`]], { form: 'envoy' }),
    ).toEqual(none);
  });
  test('from a name in the certificate that Envoy writes as it is', async () => {
    const lies = (real: string): Lines => [
      ['x-forwarded-client-cert', `Hash=${hash(stranger)};${real}URI=spiffe://a;Cert="${escaped(own)}"`],
    ];
    expect(await read(lies(''), { form: 'envoy' })).toEqual(none);
    expect(await read(lies(`Chain="${escaped(stranger)}";`), { form: 'envoy' })).toEqual(none);
    expect(await read([['x-forwarded-client-cert', `Cert="${escaped(own)}"`]], { form: 'envoy' })).toEqual(none);
  });
  test('from the header that a load balancer sets in another mode', async () => {
    const [all, leaf] = ['X-Amzn-Mtls-Clientcert', 'X-Amzn-Mtls-Clientcert-Leaf'];
    expect(await read([[leaf, escapedByAws(own)]], { form: 'aws-alb' })).toEqual(none);
    expect(await read([[all, escapedByAws(own)]], { form: 'aws-alb-verify' })).toEqual(none);
    const both: Lines = [
      [all, escapedByAws(stranger)],
      [leaf, escapedByAws(own)],
    ];
    expect(await read(both, { form: 'aws-alb' })).toMatchObject({ own: stranger.thumbprint });
    expect(await read(both, { form: 'aws-alb-verify' })).toMatchObject({ own: own.thumbprint });
  });
  test.each<[ClientCertificateHeaderForm, string]>([
    ['rfc9440', 'Client-Cert: x'],
    ['rfc9440', 'Client-Cert: ::'],
    ['nginx', 'ssl-client-cert: (null)'],
    ['nginx', 'ssl-client-cert: %E0%A4%A'],
    ['nginx', `ssl-client-cert: ${encodeURIComponent('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')}`],
    ['envoy', 'x-forwarded-client-cert: Hash=ab12;Subject="CN=own"'],
    ['envoy', 'x-forwarded-client-cert: Cert="'],
    ['haproxy', 'x-ssl-client-der: '],
    ['traefik', 'x-forwarded-tls-client-cert: ,'],
    ['aws-alb', 'x-amzn-mtls-clientcert: none'],
  ])('from a header that can’t be read: %s, %s', async (form, line) => {
    const [name = '', value = ''] = line.split(': ');
    expect(await read([[name, value]], { form })).toEqual(none);
  });
});
