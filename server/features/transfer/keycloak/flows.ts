// Sign-in flows of Keycloak, where every step has a counterpart: those that people made, for browsers. docs/keycloak.md.
import type { ExecutionDocument, Requirement } from '../../../contract/flows.ts';
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
/** What is so here without a step: sessions are recognized, providers are on the sign-in page, and the two halves of a password's form. */
const silent = new Set(['auth-cookie', 'identity-provider-redirector', 'organization', 'auth-username-form']);
const ownPassword = 'auth-password-form';
const requirements: readonly string[] = ['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'];
const isRequirement = (word: string): word is Requirement => requirements.includes(word);

/** A step that can't be carried over. */
class NoCounterpart extends Error {}

export interface TranslatedFlows {
  flows: { alias: string; executions: ExecutionDocument[] }[];
  /** Of all, by id: what clients name. */
  aliases: ReadonlyMap<string, string>;
}

/** Each under its alias there. */
export function flowsOf({ authenticationFlows = [] }: Realm, notes: Notes): TranslatedFlows {
  const byAlias = new Map(authenticationFlows.map((flow) => [flow.alias, flow]));
  const tops = authenticationFlows.filter(
    ({ topLevel, builtIn, providerId = 'basic-flow' }) => topLevel && !builtIn && providerId === 'basic-flow',
  );
  const flows = tops.flatMap((flow) => {
    try {
      return [{ alias: flow.alias, executions: stepsOf(flow, byAlias, 1) }];
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error;
      notes.add({ kind: 'flow', key: flow.alias }, error.message);
      return [];
    }
  });
  return { flows, aliases: new Map(authenticationFlows.flatMap(({ id, alias }) => (id ? [[id, alias]] : []))) };
}

/** Keycloak's own flow asks who has a second factor for it, or, where somebody said so, everybody. */
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

function stepsOf(flow: Flow, byAlias: ReadonlyMap<string, Flow>, level: number): ExecutionDocument[] {
  if (level > MOST_LEVELS) throw new NoCounterpart('is nested too deep');
  const steps = (flow.authenticationExecutions ?? []).toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
  const halves = steps.some(({ authenticator }) => authenticator === 'auth-username-form');
  return steps.flatMap((step) => stepOf(step, { byAlias, level, halves }));
}

function stepOf(
  { authenticator, authenticatorFlow, flowAlias = '', requirement = 'DISABLED' }: Execution,
  { byAlias, level, halves }: { byAlias: ReadonlyMap<string, Flow>; level: number; halves: boolean },
): ExecutionDocument[] {
  if (requirement === 'DISABLED') return [];
  if (!isRequirement(requirement)) throw new NoCounterpart(`there is no requirement ${requirement} here`);
  if (authenticatorFlow) {
    const below = byAlias.get(flowAlias);
    if (!below) throw new NoCounterpart(`its part ${flowAlias} isn’t in the export`);
    const executions = stepsOf(below, byAlias, level + 1);
    return executions.length === 0 ? [] : [{ name: flowAlias.slice(0, 200), requirement, executions }];
  }
  const id = authenticator ?? '';
  if (silent.has(id)) return [];
  if (id === ownPassword && halves) return [{ authenticatorId: 'username-password', requirement }];
  const authenticatorId = authenticators[id];
  if (!authenticatorId) throw new NoCounterpart(`there is no step ${id} here`);
  return [{ authenticatorId, requirement }];
}
