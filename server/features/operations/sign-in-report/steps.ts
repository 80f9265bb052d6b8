// Whether a user has what a step asks for, and the steps of a path in words. Pure.
import { BY_PROVIDER } from '../../../contract/flows.ts';
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

/** What a realm has for the steps of its sign-ins. */
export interface RealmMeans {
  /** The enabled identity providers among those that the flow names. */
  named: readonly string[];
  /** Whether the sign-in page shows an identity provider. */
  showsProvider: boolean;
  sends: Record<'EMAIL' | 'SMS', boolean>;
}

type Offers = (authenticatorId: string, config: Record<string, unknown>) => boolean;

export function createSteps(registry: readonly AuthenticatorRecord[]) {
  const records = new Map(registry.map((entry) => [entry.id, entry]));
  const types = registry.flatMap((entry) => (entry.category === 'METHOD' ? (entry.credential?.type ?? []) : []));
  const nameOf = (id: string): string => inEnglish(records.get(id)?.displayName ?? id);

  /** Whether the user has what an authenticator asks for. */
  const ability =
    ({ standing, providers, reported, keeper }: Holder) =>
    (authenticatorId: string, { provider }: Record<string, unknown>): boolean => {
      const record = records.get(authenticatorId);
      if (record?.category !== 'METHOD') return false;
      if (record.credential?.type === 'password')
        return keeper !== undefined || (standing.types.includes('password') && !reported);
      if (authenticatorId === BY_PROVIDER)
        return provider === undefined ? providers.length > 0 : providers.includes(String(provider));
      return record.availableTo?.(standing) ?? standing.types.includes(record.credential?.type ?? '');
    };

  /** Whether the realm has what an authenticator needs, for any of its users. */
  const offer =
    ({ named, showsProvider, sends }: RealmMeans) =>
    (authenticatorId: string, { provider }: Record<string, unknown>): boolean => {
      if (authenticatorId === BY_PROVIDER)
        return provider === undefined ? showsProvider : named.includes(String(provider));
      const record = records.get(authenticatorId);
      const reach = { EMAIL: sends.EMAIL ? 'an address' : null, SMS: sends.SMS ? 'a number' : null };
      return record?.category !== 'METHOD' || (record.availableTo?.({ types, reach }) ?? true);
    };

  function stepOf({ kind, authenticatorId, action, able, others }: PathStep, offers: Offers): SignInStep {
    const ways = others
      .filter((way) => way.able || offers(way.authenticatorId, way.config))
      .map((way) => ({
        authenticatorId: way.authenticatorId,
        displayName: nameOf(way.authenticatorId),
        able: way.able,
      }));
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

  function shownPath(
    path: Path,
    means: RealmMeans,
    { flow, boundBy }: Pick<SignInPath, 'flow' | 'boundBy'>,
  ): SignInPath {
    const level = path.ends === 'signed-in' ? path.level : null;
    const offers = offer(means);
    const steps = path.steps.map((step) => stepOf(step, offers));
    return { flow, boundBy, steps, ends: path.ends, level, message: endWords(path) };
  }

  return { nameOf, ability, endWords, shownPath };
}
