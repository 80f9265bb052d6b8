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

function wordsOf(body: Buffer): string {
  try {
    const said = Failure.parse(JSON.parse(body.toString()));
    const error = typeof said.error === 'string' ? said.error : said.error?.message;
    const words = [said.__type, error, said.error_description, said.message ?? said.Message, ...(said.errors ?? [])];
    return words
      .flatMap((word) => word ?? [])
      .join(': ')
      .replaceAll(/\s+/g, ' ')
      .slice(0, LONGEST_WORDS);
  } catch {
    return '';
  }
}

/** Statuses after which the same request may succeed: overload, and a Vault that is sealed or a standby. */
const isAway = (status: number): boolean => status >= 500 || status === 429 || status === 408;

export class Refused extends CustodianError {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message, { away: isAway(status) });
    this.status = status;
  }
}

/** @throws CustodianError */
export async function jsonCall<T>(
  outbound: Outbound,
  url: string,
  {
    method = 'POST',
    headers = {},
    body,
    answer,
  }: { method?: 'GET' | 'POST' | 'PUT'; headers?: Record<string, string>; body?: unknown; answer: z.ZodType<T> },
): Promise<T> {
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
    const words = wordsOf(got.body);
    throw new Refused(`${host} answered ${got.status}${words === '' ? '' : `: ${words}`}`, got.status);
  }
  try {
    return answer.parse(JSON.parse(got.body.toString()));
  } catch {
    // zod's and JSON's messages may quote the answer
    throw new CustodianError(`${host} answered in another form than the protocol's`, { away: false });
  }
}

export const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
