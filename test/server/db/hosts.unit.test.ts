import { expect, test } from 'vitest';
import { parseConfig } from '../../../server/config.ts';
import { faultOf, hostsOf, tlsOf } from '../../../server/db/hosts.ts';

test.each([
  ['postgres://u:p@one/db', ['postgres://u:p@one/db']],
  ['postgresql://one:5433,two/db', ['postgresql://one:5433/db', 'postgresql://two/db']],
  [
    'postgres://u:p%2C%40@one:1,[::1]:2,three/db?sslmode=verify-full&target_session_attrs=read-write',
    [
      'postgres://u:p%2C%40@one:1/db?sslmode=verify-full',
      'postgres://u:p%2C%40@[::1]:2/db?sslmode=verify-full',
      'postgres://u:p%2C%40@three/db?sslmode=verify-full',
    ],
  ],
  ['postgres://one/db?target_session_attrs=primary', ['postgres://one/db']],
  ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql']],
])('the hosts of %s', (url, hosts) => {
  expect(faultOf(url)).toBeUndefined();
  expect(hostsOf(url)).toEqual(hosts);
});

test.each([
  ['mysql://one/db', /must be postgres:/],
  ['nonsense', /must be postgres:/],
  ['postgres://one,two:x/db', /must be postgres:/],
  ['postgres://one,,two/db', /names an empty host/],
  ['postgres://one,two/db?target_session_attrs=standby', /must be read-write or primary: the server writes/],
  ['postgres://one/db?target_session_attrs=any', /must be read-write or primary/],
])('%s is refused', (url, words) => {
  expect(faultOf(url)).toMatch(words);
  expect(() => parseConfig({ DATABASE_URL: url, SVC_MASTER_KEY: Buffer.alloc(32).toString('base64') })).toThrow(
    /DATABASE_URL/,
  );
});

test('a direct address without the pooled one is refused', () => {
  expect(() => parseConfig({ DATABASE_DIRECT_URL: 'postgres://one/db' })).toThrow(/DATABASE_URL: is needed too/);
});

test('a certificate counts if it is for one of the hosts, and none if it is for another', () => {
  const tls = tlsOf(hostsOf('postgres://one.example,two.example/db?sslmode=verify-full'));
  if (typeof tls !== 'object' || !tls.checkServerIdentity) throw new Error('nothing is checked');
  const of = (name: string) =>
    tls.checkServerIdentity?.('one.example', Object({ subject: { CN: name }, subjectaltname: `DNS:${name}` }));
  expect(of('two.example')).toBeUndefined();
  expect(of('one.example')).toBeUndefined();
  expect(of('three.example')).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});
