// Interruptions on any page: the session has ended, or the server asks for a second factor.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { type Interruption, onInterruption, ServerProblem } from '../api/client.ts';
import { useWrite } from '../api/queries.ts';
import { stepUpAdminSession } from '../generated/routes.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ProblemNote } from '../ui/state.tsx';
import { rememberPlace, SIGN_IN } from './addresses.ts';

export function Interruptions() {
  const [what, setWhat] = useState<Interruption>();
  const client = useQueryClient();
  useEffect(
    () => onInterruption((next) => setWhat((now) => (next === 'other-administrator' ? next : (now ?? next)))),
    [],
  );
  const goOn = async () => {
    setWhat(undefined);
    await client.invalidateQueries();
  };
  if (what === 'step-up-required') return <StepUp onDone={() => void goOn()} />;
  if (what === 'other-administrator') return <OtherAdministrator />;
  return (
    <Dialog
      title="Your session ended"
      isOpen={what === 'session-ended'}
      alert
      footer={
        <>
          <a className="button" href={SIGN_IN} target="_blank" rel="noopener opener" onClick={() => setWhat(undefined)}>
            Sign in in a new tab
          </a>
          <a className="button primary" href={SIGN_IN} onClick={rememberPlace}>
            Sign in again
          </a>
        </>
      }
    >
      <p>
        Sessions end after some time without use, and when access is taken away. After signing in you are back on this
        page.
      </p>
      <p className="hint">What you have typed here stays only if you sign in in a new tab and go on in this one.</p>
    </Dialog>
  );
}

/** Nothing of this page may be sent in the name of the other administrator, so there is no way back to it. */
const OtherAdministrator = () => (
  <Dialog
    title="Another administrator signed in"
    isOpen
    alert
    footer={
      <Button variant="primary" onPress={() => location.reload()}>
        Load this page anew
      </Button>
    }
  >
    <p>
      The session of this browser is that of another administrator now. What is on this page was read and typed in the
      session before; nothing of it is sent.
    </p>
  </Dialog>
);

/** Asks for a one-time code; the session goes on with it. */
export function StepUp({ onDone }: { onDone: () => void }) {
  const [code, setCode] = useState('');
  const stepUp = useWrite(stepUpAdminSession);
  const wrong = stepUp.error instanceof ServerProblem && stepUp.error.is('invalid-credentials');
  const form = useId();
  const isCode = /^[\d ]{6,10}$/.test(code);
  // A code works once: a second press of Enter must not send it again, though it may come before the page shows the first.
  const isSent = useRef(false);
  const prove = () => {
    if (!isCode || isSent.current) return;
    isSent.current = true;
    const onSettled = () => {
      isSent.current = false;
    };
    stepUp.mutate({ body: { otp: code.replaceAll(' ', '') } }, { onSuccess: onDone, onSettled });
  };
  return (
    <Dialog
      title="Prove a second factor"
      isOpen
      alert
      footer={
        <>
          <a className="button" href={SIGN_IN} onClick={rememberPlace}>
            Another way, or set one up
          </a>
          <Button type="submit" form={form} variant="primary" isDisabled={stepUp.isPending || !isCode}>
            Continue
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          prove();
        }}
      >
        <p>The realm asks for a second factor now, which this session has not proven.</p>
        <div className="field">
          <label htmlFor="step-up-code">Code of your authenticator app</label>
          <input
            id="step-up-code"
            className="input"
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={({ target }) => setCode(target.value)}
            aria-invalid={wrong || undefined}
            aria-describedby={wrong ? 'step-up-fault' : undefined}
            autoFocus
          />
          {wrong && (
            <span id="step-up-fault" className="fault" role="alert">
              This code is not right. Take the next one that the app shows.
            </span>
          )}
        </div>
        {stepUp.error && !wrong && <ProblemNote problem={stepUp.error} />}
      </form>
    </Dialog>
  );
}
