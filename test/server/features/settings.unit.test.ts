import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RealmSettingsDto, SettingsInput as Schema, type SettingsInput } from '../../../server/contract/settings.ts';
import { changeOf, settingsFaults, settingsOf } from '../../../server/features/configuration/settings/rules.ts';
import { issuerOf } from '../../../server/http/own-addresses.ts';

const baseUrl = 'https://id.example';
const fresh = settingsOf('acme', {});
const input: fc.Arbitrary<SettingsInput> = fc.record(
  {
    accessTokenTtlSeconds: fc.integer({ min: 1, max: 86_400 }),
    rememberMe: fc.boolean(),
    riskMediumThreshold: fc.integer({ min: 0, max: 100 }),
    riskHighThreshold: fc.integer({ min: 0, max: 100 }),
    logoUrl: fc.constantFrom(null, 'https://acme.example/logo.svg'),
    supportedLocales: fc.uniqueArray(fc.constantFrom('en', 'de', 'fr'), { minLength: 1 }),
    defaultLocale: fc.constantFrom('en', 'de', 'fr'),
    resourceIndicators: fc.uniqueArray(fc.constantFrom('https://a.example', 'https://b.example')),
  },
  { requiredKeys: [] },
);

test('a fresh realm contradicts nothing', () => {
  const everything = Object.keys(fresh);
  expect(settingsFaults(fresh, { baseUrl, changed: everything })).toEqual([]);
  expect(RealmSettingsDto.parse(fresh)).toEqual(fresh);
});

test('what was applied changes nothing when it is applied again', () => {
  fc.assert(
    fc.property(input, input, (first, second) => {
      const { wanted } = changeOf(changeOf(fresh, first).wanted, second);
      expect(changeOf(wanted, second).changes).toEqual([]);
      const { realmId: _, ...whole } = wanted;
      expect(changeOf(wanted, Schema.parse(whole)).changes).toEqual([]);
    }),
  );
});

test('the patch is just what differs, and what is stored with it reads as what was wanted', () => {
  fc.assert(
    fc.property(input, input, (first, second) => {
      const stored = changeOf(fresh, first).patch;
      const current = settingsOf('acme', stored);
      const { wanted, patch, changes } = changeOf(current, second);
      expect(settingsOf('acme', { ...stored, ...patch })).toEqual(wanted);
      expect(Object.keys(patch)).toEqual(changes.map(({ field }) => field));
      for (const { from, to } of changes) expect(from).not.toEqual(to);
    }),
  );
});

test('only a field that was changed is blamed, and a faulty change always is', () => {
  fc.assert(
    fc.property(input, (asked) => {
      const { wanted, changes } = changeOf(fresh, asked);
      const changed = changes.map(({ field }) => field);
      const faults = settingsFaults(wanted, { baseUrl, changed });
      for (const { path } of faults) expect(changed).toContain(path);
      const crossed = wanted.riskMediumThreshold > wanted.riskHighThreshold;
      const foreign = !wanted.supportedLocales.includes(wanted.defaultLocale);
      expect(faults.length > 0).toBe(crossed || foreign);
    }),
  );
});

test.each<[string | null, string[]]>([
  [null, []],
  ['https://login.acme.example', []],
  ['http://login.acme.example', ['issuer']],
  ['http://localhost:9000', []],
  ['http://[::1]:9000', []],
  ['https://id.example/realms/acme', []],
  ['https://id.example/realms/acme/v2', []],
  ['https://id.example/realms/other', ['issuer']],
  ['https://id.example/realms/acme2', ['issuer']],
  ['https://id.example/realms/acme/../other', ['issuer']],
  ['https://ID.example/realms/other', ['issuer']],
  ['https://id.example:443/realms/other', ['issuer']],
  ['https://a:b@login.acme.example', ['issuer']],
  ['https://login.acme.example/', []],
  ['https://login.acme.example/?tenant=1', ['issuer']],
  ['https://login.acme.example/#a', ['issuer']],
])('the issuer %s', (issuer, blamed) => {
  const wanted = { ...fresh, issuer };
  expect(settingsFaults(wanted, { baseUrl, changed: ['issuer'] }).map(({ path }) => path)).toEqual(blamed);
});

test.each([
  'https://id.example',
  'https://id.example/',
  'https://id.example/admin',
  'https://id.example/admin/',
  'https://id.example/realms/other',
])(
  'what is the server’s and not the realm’s, %s, is refused as issuer and resource; stored before, it is no issuer',
  (address) => {
    const wanted = { ...fresh, issuer: address, resourceIndicators: ['https://api.example', address] };
    const faults = settingsFaults(wanted, { baseUrl, changed: ['issuer', 'resourceIndicators'] });
    expect(faults.map(({ path }) => path)).toEqual(['issuer', 'resourceIndicators']);
    expect(faults[1]?.message).toContain(address);
    expect(settingsFaults(wanted, { baseUrl, changed: ['displayName'] })).toEqual([]);
    expect(issuerOf(baseUrl, wanted)).toBe('https://id.example/realms/acme');
  },
);

test.each([
  ['a { color: red }', false],
  ['a { color: red', false],
  ['@media print { a { color: red } } b { }', false],
  ["a::before { content: \"}\" } /* } */ b::after { content: '\\'}' } .c\\} { }", false],
  ['a { } } b { }', true],
  ['} a { }', true],
  ['a::before { content: "x" } }', true],
])('custom CSS %s closes more braces than it opens: %s', (customCss, refused) => {
  const faults = settingsFaults({ ...fresh, customCss }, { baseUrl, changed: ['customCss'] });
  expect(faults.map(({ path }) => path)).toEqual(refused ? ['customCss'] : []);
});
