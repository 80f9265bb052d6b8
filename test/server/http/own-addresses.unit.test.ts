import { describe, expect, test } from 'vitest';
import { isAnothers, isNoRealms, issuerOf, namesServer } from '../../../server/http/own-addresses.ts';

const anothers = (address: string, baseUrl = 'https://id.example') => isAnothers(address, { baseUrl, realm: 'acme' });

describe('below the server’s address', () => {
  test.each([
    'https://id.example/admin',
    'https://id.example/admin/',
    'https://id.example//admin',
    'https://id.example/admin?x=1',
    'https://id.example/admin#x',
    'HTTPS://ID.EXAMPLE/admin',
    'http://id.example/admin',
    'https://id.example:443/admin',
    'https://id.example./admin',
    'https://user:password@id.example/admin',
    'https:\\\\id.example\\admin',
    'https:id.example/admin',
    'https://id.example/%61dmin',
    'https://id.example/%2561dmin',
    'https://id.example/x/../admin',
    'https://id.example/x/%2e%2E/admin',
    'https://id.example/realms/acme/../../admin',
    'https://id.example/realms/acme/..%2f..%2Fadmin',
    'https://id.example/realms/acme%2f..%5c..%5cadmin',
    'https://id.example/realms/acme/%252e%252e/other',
    'https://id.example/realms/other',
    'https://id.example/realms/acme2',
    'https://id.example/realms',
    'https://id.example/%zz',
    'https://id.example',
    'https://id.example/',
  ])('%s is not the realm’s', (address) => expect(anothers(address)).toBe(true));

  test.each([
    'https://id.example/realms/acme',
    'https://id.example/realms/acme/',
    'https://id.example/realms/acme/api?v=1',
    'HTTPS://ID.example:443/realms/acme',
    'https://id.example/realms/%61cme',
  ])('%s is the realm’s own', (address) => expect(anothers(address)).toBe(false));
});

test.each([
  'https://api.example/admin',
  'https://id.example.evil.example/admin',
  'https://id.example:8443/admin',
  'urn:example:admin',
  'com.example.app:/admin',
  'not an address',
])('%s is none of the server’s', (address) => expect(anothers(address)).toBe(false));

test.each(['https://id.example/auth', 'https://ID.example:443/auth'])(
  'the server may be below a path itself: %s',
  (baseUrl) => {
    for (const mine of [
      'https://id.example/auth/realms/acme',
      'https://id.example/authors',
      'https://id.example/admin',
    ])
      expect([mine, anothers(mine, baseUrl)]).toEqual([mine, false]);
    for (const not of ['https://id.example/auth', 'https://id.example/auth/admin', 'https://id.example/%61uth%2fadmin'])
      expect([not, anothers(not, baseUrl)]).toEqual([not, true]);
  },
);

test('a workload may come from any realm of the server, but from nothing else of it', () => {
  const noRealms = (address: string) => isNoRealms(address, 'https://id.example');
  expect(noRealms('https://id.example/realms/other')).toBe(false);
  expect(noRealms('https://cluster.example')).toBe(false);
  for (const address of ['https://id.example/admin', 'https://id.example', 'https://id.example/realms/../admin'])
    expect(noRealms(address)).toBe(true);
});

test('a client is named neither like the server’s addresses nor like the realm’s issuer', () => {
  const at = { baseUrl: 'https://id.example', issuer: 'https://login.acme.example/' };
  for (const name of [
    'https://id.example/realms/acme',
    'https://ID.example/%61dmin',
    'http://id.example',
    'https://login.acme.example',
    'https://login.acme.example//',
  ])
    expect([name, namesServer(name, at)]).toEqual([name, true]);
  for (const name of ['https://login.acme.example/app', 'https://app.example/', 'login.acme.example', 'id', ''])
    expect([name, namesServer(name, at)]).toEqual([name, false]);
  expect(namesServer('id', { ...at, issuer: null })).toBe(false);
});

test('an issuer is the realm’s own address unless it has another', () => {
  const of = (issuer: string | null) => issuerOf('https://id.example', { realmId: 'acme', issuer });
  expect(of(null)).toBe('https://id.example/realms/acme');
  expect(of('https://login.acme.example')).toBe('https://login.acme.example');
  expect(of('https://id.example/admin')).toBe('https://id.example/realms/acme');
});
