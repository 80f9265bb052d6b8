// Connecting an identity provider: what to register there, what comes back, and a sign-in to try.
import type { PageProps } from '../page.ts';
import { CreateWizard, type WizardSpec } from './create-wizard.tsx';
import IdentityProviderEnd from './identity-provider-end.tsx';
import { ProviderTest } from './provider-test.tsx';
import { providerVariants } from './provider-variants.tsx';

const spec: WizardSpec = {
  name: 'identity-provider',
  title: 'Connect an identity provider',
  lead: 'Another place where people sign in: the button is on the sign-in page at once.',
  choose: 'Provider',
  end: 'Try it',
  variants: providerVariants,
  tryOut: (body, realm) => <ProviderTest realm={realm} body={body} />,
  End: IdentityProviderEnd,
};

export default function ConnectProvider({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
