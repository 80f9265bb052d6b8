// Whether a user has what a step asks for, and the steps of a path in words. Pure.
import { inEnglish } from '../../../contract/phrases.ts';
import type { SignInPath, SignInStep } from '../../../contract/sign-in-report.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { AuthenticatorRecord } from '../../authentication/authenticators/authenticator.ts';
import type { Path, PathStep } from '../../authentication/sign-in/path.ts';
import { actionWords, missingWords, refusalWords } from './words.ts';

/** A user's credentials, links and addresses, as far as steps of a sign-in need them. */
export interface Holder {
  standing: PersonStanding;
  /** The enabled identity providers that the user is linked to. */
  providers: readonly string[];
  /** The password was reported as stolen. */
  reported: boolean;
  /** The directory that keeps the password. */
  keeper: string | undefined;
}

export function createSteps(registry: readonly AuthenticatorRecord[]) {
  const records = new Map(registry.map((entry) => [entry.id, entry]));
  const nameOf = (id: string): string => inEnglish(records.get(id)?.displayName ?? id);

  /** Whether the user has what an authenticator asks for. */
  const ability =
    ({ standing, providers, reported, keeper }: Holder) =>
    (authenticatorId: string, { provider }: Record<string, unknown>): boolean => {
      const record = records.get(authenticatorId);
      if (record?.category !== 'METHOD') return false;
      if (record.credential?.type === 'password')
        return keeper !== undefined || (standing.types.includes('password') && !reported);
      if (authenticatorId === 'idp-redirect')
        return provider === undefined ? providers.length > 0 : providers.includes(String(provider));
      return record.availableTo?.(standing) ?? standing.types.includes(record.credential?.type ?? '');
    };

  function stepOf({ kind, authenticatorId, action, able, others }: PathStep): SignInStep {
    const ways = others.map((way) => ({ ...way, displayName: nameOf(way.authenticatorId) }));
    const instead = ways.filter((way) => way.able).map(({ displayName }) => displayName);
    const name = authenticatorId === null ? '' : nameOf(authenticatorId);
    const can = kind === 'set-up' ? `The user sets it up: ${name}` : able ? `The user can do this: ${name}` : undefined;
    return {
      kind,
      authenticatorId,
      action,
      displayName: authenticatorId === null ? String(action) : name,
      able: able || instead.length > 0,
      message:
        action !== null
          ? actionWords(action)
          : (can ??
            `${missingWords(authenticatorId ?? '')}${instead.length > 0 ? `; instead: ${instead.join(', ')}` : ''}`),
      others: ways,
    };
  }

  /** How the sign-in ends, in words. */
  function endWords(path: Path): string {
    if (path.ends === 'signed-in') return 'The user is signed in';
    return path.ends === 'refused'
      ? refusalWords[path.because]
      : missingWords(path.steps.at(-1)?.authenticatorId ?? '');
  }

  function shownPath(path: Path, flow: string, boundBy: SignInPath['boundBy']): SignInPath {
    const level = path.ends === 'signed-in' ? path.level : null;
    return { flow, boundBy, steps: path.steps.map(stepOf), ends: path.ends, level, message: endWords(path) };
  }

  return { nameOf, ability, endWords, shownPath };
}
