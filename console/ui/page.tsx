// The head of a page: its heading, which gets the focus after a navigation, the way to it, and its actions; and panels.
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';

export interface Crumb {
  label: string;
  to?: string;
}

const PRODUCT = 'Realmkeeper';
/** Whether the reader has come here from another page of the console; the first page keeps the browser's own focus. */
let navigated = false;
let lastPath: string | undefined;

function useHeading(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [path] = useLocation();
  useEffect(() => {
    if (lastPath !== undefined && lastPath !== path) navigated = true;
    lastPath = path;
    if (!navigated) return;
    navigated = false;
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [path]);
  useEffect(() => {
    document.title = `${title} – ${PRODUCT}`;
  }, [title]);
  return heading;
}

/**
 * @param documentTitle the title of the browser's tab, if it says more than the heading: `shop – Clients – acme`
 */
export function Page({
  title,
  documentTitle,
  badges,
  lead,
  crumbs = [],
  actions,
  narrow,
  children,
}: {
  title: string;
  documentTitle?: string;
  badges?: ReactNode;
  lead?: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  narrow?: boolean;
  children: ReactNode;
}) {
  const heading = useHeading(documentTitle ?? [title, ...crumbs.map(({ label }) => label).reverse()].join(' – '));
  return (
    <div className={narrow ? 'page narrow' : 'page'}>
      <header className="page-head">
        {crumbs.length > 0 && (
          <nav className="crumbs" aria-label="Breadcrumbs">
            <ol>
              {crumbs.map(({ label, to }) => (
                <li key={label}>{to === undefined ? <bdi>{label}</bdi> : <Link href={to}>{label}</Link>}</li>
              ))}
            </ol>
          </nav>
        )}
        <div className="titles">
          <div>
            <div className="row">
              <h1 ref={heading} tabIndex={-1}>
                <bdi>{title}</bdi>
              </h1>
              {badges}
            </div>
            {lead && <p className="lead">{lead}</p>}
          </div>
          {actions && <div className="row">{actions}</div>}
        </div>
      </header>
      {children}
    </div>
  );
}

export function Panel({
  title,
  lead,
  actions,
  plain,
  id,
  children,
}: {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  plain?: boolean;
  id?: string;
  children: ReactNode;
}) {
  return (
    <section className="panel" {...(title !== undefined && { 'aria-label': title })} {...(id !== undefined && { id })}>
      {title !== undefined && (
        <header>
          <div>
            <h2>{title}</h2>
            {lead && <p>{lead}</p>}
          </div>
          {actions && <div className="row">{actions}</div>}
        </header>
      )}
      {plain ? children : <div className="content">{children}</div>}
    </section>
  );
}

/** Names and values of an object. */
export function Facts({ facts }: { facts: readonly { name: string; help?: ReactNode; value: ReactNode }[] }) {
  return (
    <dl className="facts">
      {facts.map(({ name, help, value }) => (
        <div key={name}>
          <dt>
            {name}
            {help && <span className="help">{help}</span>}
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
