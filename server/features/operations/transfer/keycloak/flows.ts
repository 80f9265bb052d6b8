// Keycloak's custom browser flows, carried over if every step has a counterpart. docs/keycloak.md.
import type { ExecutionDocument, Requirement } from '../../../../contract/flows.ts';
import type { Execution, Flow, Realm } from './export-shape.ts';
import type { Notes } from './notes.ts';

const authenticators: Readonly<Record<string, string>> = {
  'auth-username-password-form': 'username-password',
  'auth-otp-form': 'otp',
  'webauthn-authenticator': 'webauthn',
  'webauthn-authenticator-passwordless': 'webauthn',
  'auth-recovery-authn-code-form': 'recovery-codes',
  'conditional-user-configured': 'mfa-enabled',
};
/**
 * Steps that this server always does: recognize sessions, list providers on the sign-in page, and split the password
 * form.
 */
const silent = new Set([
  ...['auth-cookie', 'identity-provider-redirector', 'organization', 'auth-username-form'],
  // Skips the second factor after a passkey, which this server always does.
  'conditional-credential',
]);
type Config = Readonly<Record<string, string>>;
const negated = (value: string | undefined) => (value === 'true' ? { negate: true } : {});
/** Conditions from their configuration; undefined: the configuration is empty. */
const conditions: Readonly<
  Record<
    string,
    (
      config: Config,
      isClient: (clientId: string) => boolean,
    ) => Pick<ExecutionDocument, 'authenticatorId' | 'config'> | undefined
  >
> = {
  'conditional-user-role': ({ condUserRole: role = '', negate }, isClient) => {
    if (role === '') return undefined;
    // A client role is written `client.role`, but a realm role's name can look the same.
    const at = role.lastIndexOf('.');
    const of = isClient(role.slice(0, Math.max(at, 0)))
      ? { clientId: role.slice(0, at), roles: [role.slice(at + 1)] }
      : { roles: [role] };
    return { authenticatorId: 'role', config: { ...of, ...negated(negate) } };
  },
  'conditional-user-attribute': ({
    attribute_name: attribute = '',
    attribute_expected_value: value = '',
    not,
    regex,
  }) =>
    attribute === '' || regex === 'true'
      ? undefined
      : {
          authenticatorId: 'attribute',
          config: { attribute, ...(value !== '' && { values: [value] }), ...negated(not) },
        },
  'conditional-level-of-authentication': ({ 'loa-condition-level': level = '' }) =>
    Number(level) > 0 ? { authenticatorId: 'level-of-assurance', config: { minimumLevel: Number(level) } } : undefined,
};
const isCondition = ({ authenticatorId = '' }: ExecutionDocument): boolean =>
  ['mfa-enabled', 'role', 'attribute', 'level-of-assurance'].includes(authenticatorId);

const ownPassword = 'auth-password-form';
const requirements: readonly string[] = ['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'];
const isRequirement = (word: string): word is Requirement => requirements.includes(word);

/** The step can't be carried over. */
class NoCounterpart extends Error {}

export interface TranslatedFlows {
  flows: { alias: string; executions: ExecutionDocument[] }[];
  /** The aliases of all flows by id, as clients refer to them. */
  aliases: ReadonlyMap<string, string>;
}

/** Translates the flows; each keeps its alias. */
export function flowsOf(
  { authenticationFlows = [], authenticatorConfig = [], clients = [] }: Realm,
  notes: Notes,
): TranslatedFlows {
  const ids = new Set(clients.map(({ clientId }) => clientId));
  const there: Surroundings = {
    isClient: (clientId) => ids.has(clientId),
    byAlias: new Map(authenticationFlows.map((flow) => [flow.alias, flow])),
    configs: new Map(authenticatorConfig.map(({ alias, config }) => [alias, config ?? {}])),
  };
  const tops = authenticationFlows.filter(
    ({ topLevel, builtIn, providerId = 'basic-flow' }) => topLevel && !builtIn && providerId === 'basic-flow',
  );
  for (const { alias, authenticationExecutions = [] } of authenticationFlows)
    for (const { authenticator, authenticatorConfig: configured } of authenticationExecutions)
      if (authenticator === 'identity-provider-redirector' && configured)
        notes.add(
          { kind: 'flow', key: alias, field: authenticator },
          'users are not sent to a provider automatically here',
        );
  const flows = tops.flatMap((flow) => {
    try {
      return [{ alias: flow.alias, executions: stepsOf(flow, there, 1) }];
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error;
      notes.add({ kind: 'flow', key: flow.alias }, error.message);
      return [];
    }
  });
  return { flows, aliases: new Map(authenticationFlows.flatMap(({ id, alias }) => (id ? [[id, alias]] : []))) };
}

/** Whether the built-in flow asks every user for a second factor: by default it asks users with one. */
export const asksAllForSecondFactor = ({ authenticationFlows = [], browserFlow }: Realm): boolean =>
  browserFlow === 'browser' &&
  authenticationFlows.some(
    ({ alias, builtIn, authenticationExecutions = [] }) =>
      builtIn &&
      alias === 'forms' &&
      authenticationExecutions.some(
        ({ flowAlias = '', requirement }) => /Conditional (OTP|2FA)$/.test(flowAlias) && requirement === 'REQUIRED',
      ),
  );

const MOST_LEVELS = 10;

interface Surroundings {
  byAlias: ReadonlyMap<string, Flow>;
  configs: ReadonlyMap<string, Config>;
  isClient(clientId: string): boolean;
}

function stepsOf(flow: Flow, there: Surroundings, level: number): ExecutionDocument[] {
  if (level > MOST_LEVELS) throw new NoCounterpart('is nested too deep');
  const given = (flow.authenticationExecutions ?? []).toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
  const halves = given.some(({ authenticator }) => authenticator === 'auth-username-form');
  const steps = given.flatMap((step) => stepOf(step, { there, level, halves }));
  // Of several levels, every user has to reach the lowest.
  const lowest = Math.min(...steps.flatMap((step) => minimumOf(step) ?? []));
  return steps.map((step) =>
    minimumOf(step) === lowest
      ? { ...step, requirement: 'REQUIRED', executions: (step.executions ?? []).filter((one) => !isLevel(one)) }
      : step,
  );
}

const isLevel = ({ authenticatorId }: ExecutionDocument): boolean => authenticatorId === 'level-of-assurance';
const minimumOf = ({ executions = [] }: ExecutionDocument): number | undefined => {
  const level = executions.find(isLevel)?.config?.minimumLevel;
  return typeof level === 'number' ? level : undefined;
};

function stepOf(
  { authenticator, authenticatorConfig = '', authenticatorFlow, flowAlias = '', requirement = 'DISABLED' }: Execution,
  { there, level, halves }: { there: Surroundings; level: number; halves: boolean },
): ExecutionDocument[] {
  if (requirement === 'DISABLED') return [];
  if (!isRequirement(requirement)) throw new NoCounterpart(`there is no requirement ${requirement} here`);
  if (authenticatorFlow) {
    const below = there.byAlias.get(flowAlias);
    if (!below) throw new NoCounterpart(`its part ${flowAlias} isn’t in the export`);
    const executions = stepsOf(below, there, level + 1);
    // Without any other step, conditions have no effect.
    if (executions.every(isCondition)) return [];
    if (requirement === 'CONDITIONAL' && !executions.some(isCondition))
      throw new NoCounterpart(`the condition of ${flowAlias} has no counterpart here`);
    return [{ name: flowAlias.slice(0, 200), requirement, executions }];
  }
  const id = authenticator ?? '';
  if (silent.has(id)) return [];
  if (id === ownPassword && halves) return [{ authenticatorId: 'username-password', requirement }];
  const condition = conditions[id]?.(there.configs.get(authenticatorConfig) ?? {}, there.isClient);
  if (condition) return [{ ...condition, requirement }];
  const authenticatorId = authenticators[id];
  if (!authenticatorId) throw new NoCounterpart(`there is no step ${id} here, as it is configured`);
  return [{ authenticatorId, requirement }];
}
