// Names, identifiers and paging that every feature's wire shapes share. Specification section 2; decisions "Realms".
import { z } from 'zod';
import './field-words.ts';
import { holdsNul } from './json.ts';

/** Text that PostgreSQL can hold (no NUL), bounded. */
export const text = (max = 255) =>
  z
    .string()
    .max(max)
    .refine((s) => !s.includes('\0'), 'must not contain NUL');

/** An object of any JSON that PostgreSQL can store. @param longest the most characters of a name at its top level */
export const anyObject = (longest?: number) =>
  z
    .record(longest === undefined ? z.string() : z.string().max(longest), z.unknown())
    .refine((value) => !holdsNul(value), 'must not contain NUL');

/** The name of one scope, RFC 6749 §3.3. */
export const ScopeName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be an RFC 6749 scope token');

/** Characters that end a line or turn text around: a list or a log shows such a name as another one, or as two. */
const REORDERS = /[\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** A name: not empty, no control characters, no line or direction characters, no blanks at its ends. */
export const name = (max = 255) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((s) => s === s.trim(), 'must not begin or end with a blank')
    .refine((s) => !/\p{Cc}/u.test(s), 'must not contain control characters')
    .refine((s) => !REORDERS.test(s), {
      error: 'must not contain line separators or direction characters',
      // One error for one character, though a payee's or a label's rules refuse it as well.
      abort: true,
    });

/** Whether the text has invisible or text-reversing characters, by which one name can look like another. */
export const hasHiddenCharacters = (s: string): boolean => /[\p{Cc}\p{Cf}]/u.test(s);
export const HIDES = 'must not contain control, invisible or direction characters';

const JOINED = String.raw`[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}]`;
const WRITTEN = String.raw`(?=[\p{L}\p{M}])${JOINED}`;
/** Joiners that a script or an emoji needs, between two letters or two pictures. */
const SEEN = new RegExp(
  String.raw`(?<=${WRITTEN})[\u200c\u200d](?=${WRITTEN})|(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})|(?<=\p{ExtPict})\ufe0f`,
  'gu',
);
/** Whether all characters are visible, and shown in the order in which they are stored. Line feeds are allowed. */
export const isAllSeen = (s: string): boolean =>
  !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]/u.test(s.replaceAll('\n', '').replace(SEEN, ''));
/** One line, whose words have one blank between them: nothing stands where a small display does not show it. */
export const isOneLine = (s: string): boolean => !/[\r\n]|\p{Zs}{2}|^\p{Zs}|\p{Zs}$/u.test(s);
export const ONE_LINE = 'must be one line, with single blanks between words and none at its ends';
export const isComposed = (s: string): boolean => s === s.normalize('NFC');
export const NOT_COMPOSED = 'must be in the normalization form NFC of Unicode';

export const RealmName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a DNS label: a-z, 0-9 and -, at most 63 characters')
  .describe('The name of a realm, also its id: `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`')
  .meta({ examples: ['acme'] });

export const Id = z.uuid();
/** Years of four digits, as ISO 8601 and RFC 3339 write them: 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z. */
const EARLIEST_MS = -62_135_596_800_000;
export const LATEST_MS = 253_402_300_799_999;
const NOT_BEFORE = [EARLIEST_MS, 'must not be before the year 1'] as const;
const NOT_AFTER = [LATEST_MS, 'must not be after the year 9999'] as const;
/** The schema of every instant: in a range that can be stored, shown, and written in a token. Milliseconds. */
export const EpochMs = z
  .int({ abort: true })
  .min(...NOT_BEFORE)
  .max(...NOT_AFTER)
  .describe('Epoch milliseconds');
/** Whether a schema is {@link EpochMs}, with any description. */
export const isInstant = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodNumber && schema.maxValue === LATEST_MS && schema.minValue === EARLIEST_MS;
/** An instant as a query parameter. */
export const EpochMsParameter = z.coerce
  .number()
  .int({ abort: true })
  .min(...NOT_BEFORE)
  .max(...NOT_AFTER)
  .describe('Epoch milliseconds');

export const InRealm = z.strictObject({ realm: RealmName });
export const ById = z.strictObject({ realm: RealmName, id: Id });
/** Paths below a client. The admin surface puts the client’s id in the place of its client id, so that handlers get an id. */
export const InClient = z.strictObject({
  realm: RealmName,
  clientId: text().min(1).describe('The client’s id, or its client id'),
});

/**
 * Lists return at most `limit` rows and a `Link: <…cursor=…>; rel="next"` header, and `X-Total-Count` where counting is
 * cheap: on the first page of a list that has no other, and on every page of the realms.
 */
export const Page = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .describe(
      'At most this many rows. Where there are more, the header `Link` has the next page (`rel="next"`); where these are all, `X-Total-Count` says how many',
    ),
  cursor: text(500).optional().describe('From the Link header of the page before; opaque'),
});
export const SearchPage = Page.extend({ q: text(255).optional().describe('Search text') });

/** The body of a PUT: an omitted field keeps its value. */
export type Changes<T> = { [K in keyof T]?: T[K] | undefined };

/** name → list of strings, as users, groups and roles carry them. */
export const Attributes = z
  .record(name(255), z.array(text(4096)).max(100))
  .describe('Map of attribute name to its list of values');

/** Hosts, in the form of URL parsers, for which plain http is allowed. */
export const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

export const isLoopback = (address: string): boolean => loopbackHosts.has(URL.parse(address)?.hostname ?? '');

/**
 * Whether an http(s) address is spelt as RFC 3986 has it, with its host behind `//` and no user name. URL parsers also take `https:/x`,
 * `https:\\x` and `https://shown.example@real.example`, which a reader, or another parser, takes for another host.
 */
export const isPlainlySpelt = (s: string): boolean => /^https?:\/\/[^/\\?#@]+(?:[/?#]|$)/i.test(s) && !s.includes('\\');

const https = z.url({ protocol: /^https$/ });
/**
 * An absolute https address without user name or password; the outbound guard decides whether the server may connect to
 * it.
 */
export const isHttpsAddress = (s: unknown): boolean =>
  typeof s === 'string' && https.safeParse(s).success && !s.includes('\0') && isPlainlySpelt(s);
export const HttpsAddress = z.string().max(2048).refine(isHttpsAddress, 'must be an absolute https address');

/** An absolute http(s) address without credentials. */
export const HttpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute http or https address', abort: true })
  .max(2048)
  .refine(isPlainlySpelt, 'must have // before its host, and neither a user name nor a backslash')
  .refine((s) => !s.includes('\0'), 'must not contain NUL');
