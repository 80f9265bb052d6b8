// A gateway for messages: its fields, and a test message with the gateway's answer.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import { MessageTest } from '../wizards/messages-end.tsx';

export default detailWith('messagingProviders', ({ realm }) => {
  const mayWrite = useMay()(realm, 'messaging:write');
  return {
    tabs: (row) =>
      mayWrite ? [{ id: 'test', label: 'Test', content: () => <MessageTest realm={realm} row={row} /> }] : [],
  };
});
