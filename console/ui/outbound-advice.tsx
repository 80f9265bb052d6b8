// What to do when the server could not reach an address elsewhere, or may not: its own words name the setting of the server.
const SETTING = 'SVC_OUTBOUND_ALLOW';

export function OutboundAdvice({ answer }: { answer: string | null | undefined }) {
  if (!answer?.includes(SETTING)) return null;
  return (
    <span>
      Check the address and its port. The server reaches a private address, or one of its own machine, only if it is
      started with <code>{SETTING}</code>, such as <code>{SETTING}=127.0.0.1</code>.
    </span>
  );
}
