// The vectors of AWS's Signature Version 4 test suite, and those of CRC-32C in RFC 3720.
import { expect, test } from 'vitest';
import { signAws } from '../../../server/custody/drivers/aws-sign.ts';
import { crc32c } from '../../../server/custody/drivers/crc32c.ts';

const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Name, method, path, query, headers besides host and date, body, signature. */
const vectors: [string, string, string, Record<string, string>, Record<string, string>, string, string][] = [
  [
    'get-header-key-duplicate',
    'GET',
    '/',
    {},
    { 'my-header1': 'value2,value2,value1' },
    '',
    'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  ],
  [
    'get-header-value-multiline',
    'GET',
    '/',
    {},
    { 'my-header1': 'value1,value2,value3' },
    '',
    'ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790',
  ],
  [
    'get-header-value-order',
    'GET',
    '/',
    {},
    { 'my-header1': 'value4,value1,value3,value2' },
    '',
    '08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01',
  ],
  [
    'get-header-value-trim',
    'GET',
    '/',
    {},
    { 'my-header1': 'value1', 'my-header2': '"a   b   c"' },
    '',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    'get-unreserved',
    'GET',
    `/${unreserved}`,
    {},
    {},
    '',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  ['get-utf8', 'GET', '/ሴ', {}, {}, '', '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  ['get-vanilla', 'GET', '/', {}, {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-empty-query-key',
    'GET',
    '/',
    { Param1: 'value1' },
    {},
    '',
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  ['get-vanilla-query', 'GET', '/', {}, {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/',
    { Param2: 'value2', Param1: 'value1' },
    {},
    '',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-unreserved',
    'GET',
    '/',
    { [unreserved]: unreserved },
    {},
    '',
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  [
    'get-vanilla-utf8-query',
    'GET',
    '/',
    { ሴ: 'bar' },
    {},
    '',
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  ['post-header-key-case', 'POST', '/', {}, {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-header-key-sort',
    'POST',
    '/',
    {},
    { 'my-header1': 'value1' },
    '',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
  [
    'post-header-value-case',
    'POST',
    '/',
    {},
    { 'my-header1': 'VALUE1' },
    '',
    'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  ],
  [
    'post-sts-header-after',
    'POST',
    '/',
    {},
    {},
    '',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-sts-header-before',
    'POST',
    '/',
    {},
    {
      'x-amz-security-token':
        'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==',
    },
    '',
    '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  ],
  ['post-vanilla', 'POST', '/', {}, {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-vanilla-empty-query-value',
    'POST',
    '/',
    { Param1: 'value1' },
    {},
    '',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
  [
    'post-vanilla-query',
    'POST',
    '/',
    { Param1: 'value1' },
    {},
    '',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
  [
    'post-vanilla-query-nonunreserved',
    'POST',
    '/',
    { '@#$%^': '', '+': '/,?><`";:\\|][{}' },
    {},
    '',
    '66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e',
  ],
  [
    'post-vanilla-query-space',
    'POST',
    '/',
    { p: '' },
    {},
    '',
    'e71688addb58a26418614085fb730ba3faa623b461c17f48f2fbdb9361b94a9b',
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    '/',
    {},
    { 'content-type': 'application/x-www-form-urlencoded' },
    'Param1=value1',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
  [
    'post-x-www-form-urlencoded-parameters',
    'POST',
    '/',
    {},
    { 'content-type': 'application/x-www-form-urlencoded; charset=utf8' },
    'Param1=value1',
    '1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe',
  ],
];

test.each(vectors)('the request %s is signed as AWS signs it', (_, method, path, query, headers, body, signature) => {
  const { 'x-amz-security-token': sessionToken, ...rest } = headers;
  const { authorization } = signAws(
    { method, path, query, headers: { ...rest, host: 'example.amazonaws.com' }, body },
    {
      credentials: {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        sessionToken,
      },
      region: 'us-east-1',
      service: 'service',
      at: new Date('2015-08-30T12:36:00Z'),
    },
  );
  const signed = ['host', 'x-amz-date', ...Object.keys(headers)].sort().join(';');
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
  );
});

const counted = Uint8Array.from({ length: 32 }, (_, at) => at);
test.each([
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['32 rising bytes', counted, 0x46dd794e],
  ['32 falling bytes', counted.toReversed(), 0x113fdb5c],
  ['the digits from 1 to 9', Buffer.from('123456789'), 0xe3069283],
  ['nothing', new Uint8Array(0), 0],
])('the checksum of %s is that of CRC-32C', (_, bytes, checksum) => {
  expect(crc32c(bytes)).toBe(checksum);
});
