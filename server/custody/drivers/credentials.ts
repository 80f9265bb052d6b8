// What the drivers of key services share: secrets in files, addresses in settings, and credentials that are used until shortly
// before they end.
import { readFile } from 'node:fs/promises';
import { loopbackHosts } from '../../contract/names.ts';
import { CustodianError } from '../custodian.ts';
import { Refused } from './json-call.ts';

/** The longest time before its end that a credential is replaced; a short-lived one is replaced after two thirds of its time. */
const EARLY_MS = 300_000;

/** @throws CustodianError that names the variable and the file, never the content */
export async function textIn(file: string, variable: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CustodianError(`${variable}: ${file} can't be read`, { away: true, cause });
  });
}

/** A token in a file. @throws CustodianError that names the variable and the file, never the content */
export async function secretIn(file: string, variable: string): Promise<string> {
  const secret = (await textIn(file, variable)).trim();
  if (!/^[\x21-\x7e]+$/.test(secret)) throw new CustodianError(`${variable}: ${file} holds no token`, { away: true });
  return secret;
}

/** Link-local addresses, at which a cloud's agents on the same machine answer without TLS. */
const isLinkLocal = (hostname: string): boolean => /^169\.254\.\d+\.\d+$|^\[fd00:ec2::/i.test(hostname);

/**
 * An address in a setting. One without a path has no slash at its end either; a path stays as it is.
 * @param agent whether it is that of an agent on the same machine, which may answer without TLS
 * @throws Error that names the variable
 */
export function addressIn(text: string, variable: string, { agent = false } = {}): string {
  const url = URL.parse(text);
  const plain = url !== null && (loopbackHosts.has(url.hostname) || (agent && isLinkLocal(url.hostname)));
  if (
    !url ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && plain)) ||
    url.username !== '' ||
    url.hash !== ''
  )
    throw new CustodianError(
      `${variable}: must be an https address, ${agent ? 'except on the same machine' : 'except on loopback'}`,
      { away: false },
    );
  return url.pathname === '/' && url.search === '' ? url.origin : url.href;
}

/** The host of an address as the guard of outbound requests compares it. */
export const hostOf = (address: string): string => new URL(address).hostname.replace(/^\[|\]$/g, '');

/** Puts the setting before the message of a failure. */
export async function named<T>(setting: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof CustodianError) || cause.message.startsWith(`${setting}:`)) throw cause;
    throw new CustodianError(`${setting}: ${cause.message}`, { away: cause.away, cause });
  }
}

export interface Expiring<T> {
  value: T;
  /** Undefined: it doesn't end. */
  expires: Date | undefined;
}

export interface Credential<T> {
  get(): Promise<T>;
  /** @returns whether another one can be had */
  forget(): boolean;
}

/** Keeps a credential until shortly before its end. If no new one can be had by then, the earlier one serves until its end. */
export function keepCredential<T>(load: () => Promise<Expiring<T>>, now: () => Date): Credential<T> {
  let held: { value: T; renew: number; ends: number } | undefined;
  let loading: Promise<T> | undefined;

  async function renewed(): Promise<T> {
    const { value, expires } = await load();
    const at = now().getTime();
    const ends = expires?.getTime() ?? Number.POSITIVE_INFINITY;
    if (Number.isNaN(ends) || ends <= at)
      throw new CustodianError('the credential that was given has ended; compare the clocks', { away: true });
    const early = Math.min(EARLY_MS, (ends - at) / 3);
    held = { value, renew: ends === Number.POSITIVE_INFINITY ? ends : ends - early, ends };
    return value;
  }

  return {
    async get() {
      const at = now().getTime();
      if (held && at < held.renew) return held.value;
      try {
        loading ??= renewed().finally(() => {
          loading = undefined;
        });
        return await loading;
      } catch (error) {
        if (held && at < held.ends) return held.value;
        throw error;
      }
    },
    forget() {
      const had = held !== undefined && held.ends !== Number.POSITIVE_INFINITY;
      if (had) held = undefined;
      return had;
    },
  };
}

/** Runs a request, and once more by another credential if this one was revoked before its end. */
export async function authorized<T, Answer>(
  credential: Credential<T>,
  revoked: (refusal: Refused) => boolean,
  request: (value: T) => Promise<Answer>,
): Promise<Answer> {
  const value = await credential.get();
  try {
    return await request(value);
  } catch (error) {
    if (!(error instanceof Refused && revoked(error) && credential.forget())) throw error;
    return request(await credential.get());
  }
}

export const endsIn = (seconds: number, now: () => Date): Date => new Date(now().getTime() + seconds * 1000);
