import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedaction } from '../../cli/redaction.ts';

const { text, value, metrics } = createRedaction(['master', 'acme', 'globex.de']);

describe('a text of a support bundle', () => {
  test.each([
    ['acme/audit failed in globex.de', 'realm-1/audit failed in realm-2'],
    ['master stays, and so does acmes', 'master stays, and so does acmes'],
    ['ana.li@example.com could not bind', '(e-mail address) could not bind'],
    ['from 203.0.113.9, 10.0.0.1:5432 and 2001:db8::1.', 'from (IP address), (IP address):5432 and (IP address).'],
    [
      'at 127.0.0.1 and ::1, 13:17:17 o’clock, PostgreSQL 15.18',
      'at 127.0.0.1 and ::1, 13:17:17 o’clock, PostgreSQL 15.18',
    ],
    ['https://u:p@iam.example.com:8443/realms/acme?code=x', 'https://host-1/realms/realm-1?(…)'],
    ['syslog+tls://siem.corp:6514 and https://iam.example.com:8443/', 'syslog+tls://host-1 and https://host-2/'],
    ['http://localhost:8080 is loopback', 'http://localhost:8080 is loopback'],
    ['Bearer eyJhbGciOi.eyJzdWIiOiIx.c2ln', 'Bearer (token)'],
    [`key ${'a1B2'.repeat(12)}`, 'key (long value)'],
    ['0190a0c2-6f2e-7c3a-9d55-1f0e6b1f2a77 is an id', '0190a0c2-6f2e-7c3a-9d55-1f0e6b1f2a77 is an id'],
  ])('%s', (given, expected) => {
    const fresh = createRedaction(['master', 'acme', 'globex.de']);
    expect(fresh.text(given)).toBe(expected);
  });

  test('holds no e-mail address, however it is surrounded', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.string(), fc.string(), (address, before, after) => {
        fc.pre(!/["'<>()[\]{},;:/]/.test(address));
        expect(text(`${before} ${address} ${after}`)).not.toContain(address);
      }),
    );
  });

  test('is linear in its length', () => {
    const time = (n: number) => {
      const long = `${'a.b-c@'.repeat(n)} ${'1.2.3.'.repeat(n)} ${'eyJ'.repeat(n)} ${'x://'.repeat(n)}`;
      const from = performance.now();
      text(long);
      return performance.now() - from;
    };
    time(2_000);
    expect(time(40_000) / Math.max(time(10_000), 0.5)).toBeLessThan(12);
  });
});

test('JSON keeps its keys and its shape', () => {
  expect(value({ acme: ['acme', 1, null, { at: 'ana@example.com' }] })).toEqual({
    acme: ['realm-1', 1, null, { at: '(e-mail address)' }],
  });
});

test('metrics keep their names; only labels are replaced', () => {
  const line = 'svc_login_total{realm="acme",outcome="success"} 3\nacme 1\n';
  expect(metrics(line)).toBe('svc_login_total{realm="realm-1",outcome="success"} 3\nacme 1\n');
});
