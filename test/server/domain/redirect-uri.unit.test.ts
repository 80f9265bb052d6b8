// Redirect URIs: exact to the character, but for the port of a loopback address (RFC 8252 §7.3).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRedirectOf, withQuery } from '../../../server/domain/redirect-uri.ts';

const registered = [
  'https://app.example/cb',
  'https://app.example/cb?tenant=1',
  'http://127.0.0.1/cb',
  'http://[::1]:3000/cb',
  'http://localhost:8000',
  'com.example.app:/cb',
];

const matches: string[] = [
  ...registered,
  'http://127.0.0.1:1/cb',
  'http://127.0.0.1:65535/cb',
  'http://[::1]/cb',
  'http://[::1]:8/cb',
  'http://localhost:1',
];
const strangers: string[] = [
  '',
  'https://app.example',
  'https://app.example/cb/',
  'https://app.example/CB',
  'https://APP.example/cb',
  'https://app.example:443/cb',
  'https://app.example/cb?tenant=2',
  'https://app.example/cb?tenant=1&x=1',
  'https://app.example/cb#',
  'https://app.example/a/../cb',
  'https://app.example\\@evil.example/cb',
  'https://app.example@evil.example/cb',
  'https://app.example.evil.example/cb',
  'http://app.example/cb',
  'http://127.0.0.1:80@evil.example/cb',
  'http://127.0.0.1:/cb',
  'http://127.0.0.1:99999/cb',
  'http://127.0.0.1.evil.example/cb',
  'http://127.0.0.1\\.evil.example/cb',
  'http://127.1/cb',
  'http://2130706433/cb',
  'https://127.0.0.1/cb',
  'http://127.0.0.1:1/cb/..',
  'http://localhost:1/',
  'com.example.app:/cb?x=1',
  'com.example.app2:/cb',
  ' https://app.example/cb',
  'https://app.example/cb\n',
];

describe('a redirect URI', () => {
  test.each(matches)('%s is one of the client’s', (uri) => {
    expect(isRedirectOf(registered, uri)).toBe(true);
  });
  test.each(strangers)('%j is not', (uri) => {
    expect(isRedirectOf(registered, uri)).toBe(false);
  });

  test('that differs in any way from a registered https one never matches', () => {
    const noise = fc.tuple(fc.nat(30), fc.string({ minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(noise, ([at, text]) => {
        const [uri = ''] = registered;
        const changed = uri.slice(0, at) + text + uri.slice(at);
        return !isRedirectOf([uri], changed);
      }),
    );
  });

  test('that matches leads to a registered host, whatever its form', () => {
    const hosts = new Set(registered.map((uri) => new URL(uri).hostname));
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...registered), fc.nat(40), (text, uri, at) => {
        const changed = uri.slice(0, at) + text + uri.slice(at);
        return !isRedirectOf(registered, changed) || hosts.has(new URL(changed).hostname);
      }),
      { numRuns: 2000 },
    );
  });
});

test('parameters are added after those that the URI has', () => {
  expect(withQuery('https://app.example/cb?a=b%20c', { code: 'x y', state: undefined })).toBe(
    'https://app.example/cb?a=b%20c&code=x+y',
  );
  expect(withQuery('com.example.app:/cb', { code: 'x' })).toBe('com.example.app:/cb?code=x');
});
