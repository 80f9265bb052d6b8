// The frame of a wizard: its steps, of which the address names the current one, and the step's own heading.
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { Page } from '../../ui/page.tsx';

export interface Step {
  id: string;
  title: string;
  /** Its address, if the reader may go there now. */
  to?: string | undefined;
}

export const WIZARDS = 'set-up';

export function Wizard({
  realm,
  title,
  lead,
  steps,
  at,
  actions,
  children,
}: {
  realm: string;
  title: string;
  lead: ReactNode;
  steps: readonly Step[];
  at: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const current = steps.findIndex(({ id }) => id === at);
  return (
    <Page
      title={title}
      lead={lead}
      narrow
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Set up', to: inRealm(realm, WIZARDS) },
      ]}
      {...(actions !== undefined && { actions })}
    >
      <nav aria-label="Steps">
        <ol className="wizard-steps">
          {steps.map(({ id, title: words, to }, place) => (
            <li key={id} className={place < current ? 'before' : place === current ? 'now' : 'after'}>
              {to !== undefined && place !== current ? (
                <Link href={to}>{words}</Link>
              ) : (
                <span aria-current={place === current ? 'step' : undefined}>{words}</span>
              )}
            </li>
          ))}
        </ol>
      </nav>
      <StepHeading title={steps[current]?.title ?? title} />
      {children}
    </Page>
  );
}

/** Gets the focus when the step changes, so that a screen reader reads where the reader is. */
function StepHeading({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(title);
  useEffect(() => {
    if (last.current === title) return;
    last.current = title;
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h2 ref={heading} tabIndex={-1} className="wizard-heading">
      {title}
    </h2>
  );
}
