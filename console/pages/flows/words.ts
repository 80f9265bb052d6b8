// The words of a flow: what a requirement means where it stands, and how a step is called.
import type { Requirement } from '../../../server/contract/flows.ts';
import type { OutputOf } from '../../api/client.ts';
import type { listAuthenticators } from '../../generated/routes.ts';
import type { Option } from '../../ui/fields.tsx';
import { isCondition } from './never-asked.ts';
import type { Step } from './tree-model.ts';

export type Authenticator = OutputOf<typeof listAuthenticators>[number];
export type Registry = ReadonlyMap<string, Authenticator>;

export const requirementWords: Readonly<Record<Requirement, string>> = {
  REQUIRED: 'Required',
  ALTERNATIVE: 'Alternative',
  CONDITIONAL: 'Conditional',
  DISABLED: 'Off',
};

const help = {
  REQUIRED: 'Each user must do it.',
  ALTERNATIVE: 'One of the alternatives side by side is enough. None is asked beside a required step.',
  DISABLED: 'The sign-in goes on as if it were not there.',
} as const;

/** The requirements that make sense for a step. */
export function requirementsOf(step: Step, registry: Registry): Option[] {
  const option = (id: Requirement, words: string): Option => ({ id, label: requirementWords[id], help: words });
  if (isCondition(step, registry))
    return [
      option('REQUIRED', 'The group’s steps are asked for only while this holds.'),
      option('DISABLED', 'It is not looked at.'),
      // one that was saved with another requirement keeps it until it is changed
      ...(step.requirement === 'ALTERNATIVE' || step.requirement === 'CONDITIONAL'
        ? [option(step.requirement, 'Works as a required condition.')]
        : []),
    ];
  return [
    option('REQUIRED', step.authenticatorId === null ? 'Its steps must be done by each user.' : help.REQUIRED),
    option('ALTERNATIVE', help.ALTERNATIVE),
    option(
      'CONDITIONAL',
      step.authenticatorId === null
        ? 'Its steps must be done while all of its conditions hold. Without a condition they are never asked for.'
        : 'Users who have set it up must do it. Other users pass.',
    ),
    option('DISABLED', help.DISABLED),
  ];
}

export const labelOf = (step: Step, registry: Registry): string =>
  step.authenticatorId === null
    ? step.name || 'Group of steps'
    : (registry.get(step.authenticatorId)?.displayName ?? step.authenticatorId);

const factors = {
  KNOWLEDGE: 'Something that the user knows',
  POSSESSION: 'Something that the user has',
  INHERENCE: 'Something that the user is',
  NONE: '',
} as const;

/** A step in a sentence. */
export function natureOf(authenticator: Authenticator | undefined): string {
  if (!authenticator) return 'This server has no such authenticator.';
  const { category, factorClass, levelOfAssurance } = authenticator;
  if (category === 'CONDITION') return 'A condition: it asks for nothing, and decides whether its group is asked for.';
  if (category === 'FIRST_SIGN_IN')
    return 'A step of the first sign-in with an identity provider. Other sign-ins leave it out.';
  const factor = factors[factorClass];
  return `${factor === '' ? 'A way to sign in' : factor}, at level of assurance ${levelOfAssurance}.`;
}
