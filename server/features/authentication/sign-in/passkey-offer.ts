// When a sign-in ends with the page on which the browser may create a passkey
// (features/authentication/authenticators/passkey-offer.ts); pure.
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import { passkeyConfigOf } from '../authenticators/webauthn.ts';
import type { Demand, Judge, Judged, NextStep } from './judge.ts';
import { OFFER_PASSKEY, type SignInState } from './state.ts';

type Policy = Pick<RealmSettingsDto, 'passkeyAttestation' | 'passkeyBinding'>;

const CONFIGURE_PASSKEY: RequiredAction = 'CONFIGURE_PASSKEY';
/** The page is no step of a method, so it proves nothing. */
const offering: NextStep = {
  do: 'ask',
  executionId: OFFER_PASSKEY,
  authenticatorId: OFFER_PASSKEY,
  enrol: true,
  others: [],
  config: {},
};

/** The configurations under which a flow contains an authenticator. */
export const configsOf = (tree: readonly TreeNode[], id: string): Record<string, unknown>[] =>
  tree.flatMap((node) => [...(node.authenticatorId === id ? [node.config] : []), ...configsOf(node.children, id)]);

/** After a password of this sign-in, for a user without passkeys, if the flow wants it. */
function mayOffer(state: SignInState, policy: Policy, { tree }: Demand, { person }: Judged): boolean {
  // A program has no page to continue at.
  if (state.is !== 'known' || state.offered || state.purpose.continueAt === '') return false;
  if (!state.factors.some(({ authenticator }) => authenticator === 'username-password')) return false;
  // The passkey of a password manager is synced, and nothing proves its make.
  const { passkeyAttestation: attestation, passkeyBinding: binding } = policy;
  if (attestation === 'direct' || attestation === 'enterprise' || binding === 'device-bound') return false;
  return (
    person?.types.includes('webauthn') === false &&
    configsOf(tree, 'webauthn').some((config) => passkeyConfigOf(config).createAfterPassword === true)
  );
}

/**
 * The judge's next step, with the page before the end. A user with a second factor gets the page only in a sign-in in which
 * they could also set up a passkey on their own: after a proof of that factor.
 */
export function withOffer(judge: Judge, state: SignInState, policy: Policy, demand: Demand, judged: Judged): NextStep {
  const next = judge(demand, judged);
  if (next.do !== 'finish' || !judged.person || !mayOffer(state, policy, demand, judged)) return next;
  const wanting = { ...judged, person: { ...judged.person, actions: [CONFIGURE_PASSKEY] } };
  const setUp = judge(demand, wanting);
  return setUp.do === 'ask' && setUp.enrol && setUp.action === CONFIGURE_PASSKEY ? offering : next;
}
