// The answer of a gateway to a test message.
import type { ReactNode } from 'react';
import { OutboundAdvice } from '../../ui/outbound-advice.tsx';
import { Note } from '../../ui/state.tsx';

export function GatewayAnswer({ of, children }: { of: { delivered: boolean; answer: string }; children?: ReactNode }) {
  return (
    <Note tone={of.delivered ? 'good' : 'bad'} live>
      <strong>{of.delivered ? 'The gateway took the message.' : 'The gateway did not take the message.'}</strong>
      <span className="mono" dir="auto">
        {of.answer}
      </span>
      {!of.delivered && <OutboundAdvice answer={of.answer} />}
      {!of.delivered && children}
    </Note>
  );
}
