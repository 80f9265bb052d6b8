// The console as a whole: who is signed in, the frame, the page of the address.
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from 'react-aria-components';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Router, useLocation } from 'wouter';
import { type BrowserLocationHook, useBrowserLocation, useSearch } from 'wouter/use-browser-location';
import { call, ServerProblem } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { SessionContext } from '../api/session.ts';
import { getAdminSession } from '../generated/routes.ts';
import { ProblemNote } from '../ui/state.tsx';
import { Toasts } from '../ui/toast.tsx';
import { BASE, comeBack, rememberPlace, SIGN_IN } from './addresses.ts';
import { useDirection } from './appearance.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { Frame } from './frame.tsx';
import { Interruptions, StepUp } from './interruptions.tsx';
import { PageOfAddress } from './page-of-address.tsx';

comeBack();

/** The router decodes an address before it splits it, so `%25` is doubled: a name with a percent sign stays as it is. */
const useAddress: BrowserLocationHook = () => {
  const [path, navigate] = useBrowserLocation();
  return [path.replaceAll('%25', '%2525'), navigate];
};
const useQueryText = () => useSearch().replaceAll('%25', '%2525');

export function App() {
  // react-aria reads direction and number formats from a locale
  const locale = useDirection() === 'rtl' ? 'en-Arab' : 'en';
  return (
    <I18nProvider locale={locale}>
      <QueryClientProvider client={queryClient}>
        <Router base={BASE} hook={useAddress} searchHook={useQueryText}>
          <Linked />
        </Router>
      </QueryClientProvider>
    </I18nProvider>
  );
}

const inConsole = (href: string): string => (href.startsWith('/') ? BASE + href : href);

function Linked() {
  const [, navigate] = useLocation();
  return (
    <RouterProvider navigate={(to) => navigate(to)} useHref={inConsole}>
      <SignedIn />
      <Toasts />
    </RouterProvider>
  );
}

function SignedIn() {
  const session = useQuery({
    // of no realm: a write may change what the reader's own roles permit
    queryKey: [null, 'session'],
    queryFn: async () => (await call(getAdminSession)).body,
    retry: false,
    staleTime: 60_000,
  });
  if (session.data)
    return (
      <SessionContext value={session.data}>
        <Frame>
          <ErrorBoundary>
            <PageOfAddress />
          </ErrorBoundary>
        </Frame>
        <Interruptions />
      </SessionContext>
    );
  const { error } = session;
  if (error instanceof ServerProblem && error.is('step-up-required'))
    return <StepUp onDone={() => session.refetch()} />;
  if (error instanceof ServerProblem && error.status === 401) {
    rememberPlace();
    location.replace(SIGN_IN);
    return <p className="boot">Going to the sign-in…</p>;
  }
  return (
    <div className="boot" role="status">
      {error ? <ProblemNote problem={error} retry={() => void session.refetch()} /> : 'Loading the console…'}
    </div>
  );
}
