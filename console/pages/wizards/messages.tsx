// Setting up mail, SMS or push messages; ends with a test message.
import type { PageProps } from '../page.ts';
import { CreateWizard, type WizardSpec } from './create-wizard.tsx';
import { gatewayVariants } from './gateway-variants.ts';
import MessagesEnd from './messages-end.tsx';

const spec: WizardSpec = {
  name: 'messages',
  title: 'Set up messages',
  lead: 'A realm sends nothing until it has a gateway: no link for a forgotten password, no code, no push message.',
  choose: 'Gateway',
  end: 'Send a test',
  variants: gatewayVariants,
  End: MessagesEnd,
};

export default function SetUpMessages({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
