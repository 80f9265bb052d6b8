// What people are told about an environment that can't be.
import { expect, test } from 'vitest';
import { BadEnvironment, misspelt, parseConfig } from '../../server/config.ts';

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof BadEnvironment) return error.faults;
    throw error;
  }
};

test('every fault is told at once, and of a number what is wrong with it', () => {
  const faults = faultsOf({
    SVC_PORT: '99999',
    SVC_DATABASE_POOL: '2.5',
    SVC_DRAIN_SECONDS: 'soon',
    SVC_EVENT_RETENTION_DAYS: '0',
  });
  expect(faults).toEqual([
    expect.stringMatching(/^SVC_PORT: .*at most 65535/),
    'SVC_DATABASE_POOL: must be a whole number',
    'SVC_DRAIN_SECONDS: must be a number',
    expect.stringMatching(/^SVC_EVENT_RETENTION_DAYS: .*at least 1/),
  ]);
});

test.each([
  ['http://range.example.com/', 'SVC_BREACHED_PASSWORDS_URL: must be https://…/'],
  ['https://range.example.com/range', 'SVC_BREACHED_PASSWORDS_URL: must end with /'],
])('%s is no address that characters can be put behind', (url, fault) => {
  expect(faultsOf({ SVC_BREACHED_PASSWORDS_URL: url })).toEqual([expect.stringContaining(fault)]);
});

test.each([
  ...['https://*.acme.com', 'https://login.acme.com.', 'http://login.acme.com', 'https://ada:x@login.acme.com'],
  ...['https://login.acme.com/realms', 'login.acme.com', 'https://login.acme.com\\@evil.example'],
])('%s is no other address of the server', (address) => {
  expect(faultsOf({ SVC_OTHER_ADDRESSES: address })).toEqual([expect.stringContaining('SVC_OTHER_ADDRESSES')]);
});

test.each(['http://id.example.com', 'http://10.0.0.1:8080', 'ftp://id.example.com', 'id.example.com'])(
  '%s is no public address of the server: it is https, except on loopback',
  (address) => {
    expect(faultsOf({ SVC_BASE_URL: address })).toEqual([expect.stringContaining('SVC_BASE_URL')]);
    for (const own of ['https://id.example.com', 'http://localhost:8080', 'http://127.0.0.1'])
      expect(faultsOf({ SVC_BASE_URL: own })).toEqual([]);
  },
);

test.each(['300.1.1.1', '10.0.0.0/40', 'proxy.example.com', '10.0.0.1;10.0.0.2'])(
  '%s is no address of a proxy',
  (entry) => {
    expect(faultsOf({ SVC_TRUST_PROXY: entry })).toEqual([expect.stringContaining('SVC_TRUST_PROXY')]);
  },
);
test('proxies are addresses, CIDRs and the ranges that have names', () => {
  expect(faultsOf({ SVC_TRUST_PROXY: '127.0.0.1, ::1, 10.0.0.0/8, fd00::/8, loopback' })).toEqual([]);
});

test('headers that say where a browser is are one or three, and are believed of named proxies alone', () => {
  const trusted = { SVC_TRUST_PROXY: '127.0.0.1' };
  expect(faultsOf({ SVC_LOCATION_HEADERS: 'x-country' })).toEqual([expect.stringContaining('SVC_TRUST_PROXY')]);
  for (const names of ['x-country,x-latitude', 'x country', 'a,b,c,d'])
    expect(faultsOf({ ...trusted, SVC_LOCATION_HEADERS: names })).toEqual([
      expect.stringContaining('must name a header'),
    ]);
  expect(faultsOf({ ...trusted, SVC_LOCATION_HEADERS: 'X-Country, X-Latitude, X-Longitude' })).toEqual([]);
});

test('variables that no program reads are named with those that were probably meant', () => {
  const found = misspelt({
    SVC_BASEURL: 'https://id.example.com',
    SVC_MASTERKEY: 'x',
    SVC_COMPLETELY_ELSE: '1',
    svc_port: '80',
    // known, of another program, of documents, of Kubernetes, of others
    SVC_PORT: '8080',
    SVC_SERVER_URL: 'https://id.example.com',
    SVC_VAR_BILLNG: 'x',
    SVC_SHOP_SERVICE_HOST: '10.0.0.1',
    SVC_SHOP_PORT_80_TCP_ADDR: '10.0.0.1',
    SVC_SHOP_PORT: 'tcp://10.0.0.1:80',
    PATH: '/bin',
  });
  expect(found).toEqual([
    { variable: 'SVC_BASEURL', meant: 'SVC_BASE_URL' },
    { variable: 'SVC_MASTERKEY', meant: 'SVC_MASTER_KEY' },
    { variable: 'SVC_COMPLETELY_ELSE', meant: undefined },
    { variable: 'svc_port', meant: 'SVC_PORT' },
  ]);
});
