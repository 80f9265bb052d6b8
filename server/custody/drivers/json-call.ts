// One request of a custodian's JSON interface, with its failures told apart: away (try again), or refused.
// Messages hold the custodian's own words, never a request's body, which holds data keys.
import { z } from 'zod';
import { errorWords } from '../../contract/error-words.ts';
import type { Outbound } from '../../http/outbound.ts';
import { CustodianError } from '../custodian.ts';

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 256 * 1024;
const LONGEST_WORDS = 300;

/** The forms of failures: Vault's list, Google's and Azure's error object, AWS's and OAuth's members. */
const Failure = z.object({
  errors: z.array(z.string()).optional(),
  error: z.union([z.string(), z.object({ message: z.string().optional(), code: z.unknown() })]).optional(),
  error_description: z.string().optional(),
  __type: z.string().optional(),
  message: z.string().optional(),
  Message: z.string().optional(),
});

/** What a failure says, and the code in which AWS names it. AWS's older interfaces answer in XML. */
interface Said {
  code: string;
  words: string;
}

const inXml = (text: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? '';

function saidIn(text: string): Said {
  if (/^\s*</.test(text)) {
    const code = inXml(text, 'Code');
    return { code, words: [code, inXml(text, 'Message')].filter((word) => word !== '').join(': ') };
  }
  try {
    const said = Failure.parse(JSON.parse(text));
    const error = typeof said.error === 'string' ? said.error : said.error?.message;
    const code = said.__type?.replace(/^.*#/, '');
    const words = [code, error, said.error_description, said.message ?? said.Message, ...(said.errors ?? [])];
    return { code: code ?? '', words: words.flatMap((word) => word ?? []).join(': ') };
  } catch {
    return { code: '', words: '' };
  }
}

/** AWS names the parts of a request whose signature it refuses, and among them the session's token. */
const withoutSecrets = (words: string, secrets: readonly string[]): string =>
  secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, '***')), words);

/** AWS says that it has no time with the status 400. */
const BUSY = /^(Throttl|RequestThrottled|RequestLimitExceeded|TooManyRequests|IDPCommunicationError)/;

/** Failures after which the same request may succeed: overload, and a Vault that is sealed or a standby. */
const isAway = (status: number, code: string): boolean =>
  status >= 500 || status === 429 || status === 408 || BUSY.test(code);

export class Refused extends CustodianError {
  readonly status: number;
  /** AWS's name of the failure; empty elsewhere. */
  readonly code: string;
  constructor(message: string, status: number, code = '') {
    super(message, { away: isAway(status, code) });
    this.status = status;
    this.code = code;
  }
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  /** Text is sent as it is, and everything else as JSON. */
  body?: unknown;
  /** They are left out of the message if the answer repeats them. */
  secrets?: readonly string[];
}

/** @throws CustodianError */
export async function call(
  outbound: Outbound,
  url: string,
  { method = 'POST', headers = {}, body, secrets = [] }: Call,
): Promise<Buffer> {
  const content = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const { host } = new URL(url);
  const got = await outbound
    .fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
      httpsOnly: false,
    })
    .catch((cause: unknown) => {
      throw new CustodianError(`${host} can't be reached: ${errorWords(cause)}`, { away: true, cause });
    });
  if (got.status < 200 || got.status > 299) {
    const { code, words } = saidIn(got.body.toString());
    const shown = withoutSecrets(words, secrets).replaceAll(/\s+/g, ' ').slice(0, LONGEST_WORDS);
    throw new Refused(`${host} answered ${got.status}${shown === '' ? '' : `: ${shown}`}`, got.status, code);
  }
  return got.body;
}

/** @throws CustodianError */
export async function jsonCall<T>(
  outbound: Outbound,
  url: string,
  { answer, ...request }: Call & { answer: z.ZodType<T> },
): Promise<T> {
  const body = await call(outbound, url, request);
  try {
    return answer.parse(JSON.parse(body.toString()));
  } catch {
    // zod's and JSON's messages may quote the answer
    throw otherForm(url);
  }
}

export const otherForm = (url: string): CustodianError =>
  new CustodianError(`${new URL(url).host} answered in another form than the protocol's`, { away: false });

/** The headers of a body that is a form; the body is the text of a URLSearchParams. */
export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

export const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
