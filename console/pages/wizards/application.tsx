// Adding an application: what it is decides the client's settings; the last step has what its developer copies.
import type { PageProps } from '../page.ts';
import ApplicationEnd from './application-end.tsx';
import { applicationVariants } from './application-variants.ts';
import { CreateWizard, type WizardSpec } from './create-wizard.tsx';

const spec: WizardSpec = {
  name: 'application',
  title: 'Add an application',
  lead: 'An application that signs people in, or a service that gets tokens for itself. It becomes a client of the realm.',
  choose: 'Kind of application',
  end: 'Connect it',
  variants: applicationVariants,
  End: ApplicationEnd,
};

export default function AddApplication({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
