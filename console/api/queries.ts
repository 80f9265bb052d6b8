// Reading and writing in components: server state by react-query, by route and input. A write makes everything read in its
// realm stale, so that no page shows what was.
import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import {
  type AnyRoute,
  type ConsoleAnswer,
  call,
  callFilled,
  type InputOf,
  type OutputOf,
  ServerProblem,
} from './client.ts';

const RETRIES = 2;
/** Only what may succeed by itself: the server is away or too busy. */
const mayPass = (error: unknown) => error instanceof ServerProblem && (error.status === 0 || error.status === 503);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < RETRIES && mayPass(error),
      refetchOnWindowFocus: true,
    },
  },
});

export type Read<R extends AnyRoute> = UseQueryResult<ConsoleAnswer<OutputOf<R>>, ServerProblem>;

/** The realm first, so that a write can name all that is read in it. */
export const keyOf = (route: AnyRoute, input: object): readonly unknown[] => {
  const { params, query } = Object(input);
  return [Object(params).realm ?? null, route.method, route.path, params, query];
};

/**
 * Reads the answer of a GET. `enabled: false` asks for nothing yet; `keep` shows the last page of a list until the next is there;
 * `everySeconds` asks again and again; a function decides by what was read last; `fill` goes on where the server ended a long search.
 */
export function useRead<R extends AnyRoute>(
  route: R,
  input: InputOf<R> = {} as InputOf<R>,
  {
    enabled = true,
    keep = false,
    fill = false,
    everySeconds,
  }: {
    enabled?: boolean;
    keep?: boolean;
    fill?: boolean;
    everySeconds?: number | ((body: OutputOf<R> | undefined) => number | undefined);
  } = {},
): Read<R> {
  return useQuery<ConsoleAnswer<OutputOf<R>>, ServerProblem>({
    queryKey: [...keyOf(route, input), fill],
    queryFn: ({ signal }) => (fill ? callFilled : call)(route, { ...input, signal }),
    enabled,
    ...(keep && { placeholderData: keepPreviousData }),
    ...(everySeconds !== undefined && {
      refetchInterval: ({ state: { data, error } }) => {
        if (typeof everySeconds === 'number') return everySeconds * 1000;
        const seconds = everySeconds(data?.body);
        // what was there and is gone does not come back
        return seconds !== undefined && error?.status !== 404 && seconds * 1000;
      },
    }),
  });
}

/** As {@link useRead}, for a POST that only reads: its body is part of the question. It is asked once, or again on purpose. */
export function useAsked<R extends AnyRoute>(
  route: R,
  input: InputOf<R>,
  { enabled = true, keep = false }: { enabled?: boolean; keep?: boolean } = {},
): Read<R> {
  return useQuery<ConsoleAnswer<OutputOf<R>>, ServerProblem>({
    queryKey: [...keyOf(route, input), Object(input).body],
    queryFn: ({ signal }) => call(route, { ...input, signal }),
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    ...(keep && { placeholderData: keepPreviousData }),
  });
}

/** All that was read in the realm, and what belongs to no realm, is read anew where a page shows it. */
export const readAnew = (realm: string | undefined): Promise<void> =>
  queryClient.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === null || of === realm });

export type Write<R extends AnyRoute> = UseMutationResult<ConsoleAnswer<OutputOf<R>>, ServerProblem, InputOf<R>>;

/**
 * A write; afterwards all that was read in its realm, or without one, is read anew where a page shows it. `onDone` is called even
 * if the component is gone by then, as a dialog that was closed meanwhile.
 */
export function useWrite<R extends AnyRoute>(route: R, { onDone }: { onDone?: () => void } = {}): Write<R> {
  return useMutation<ConsoleAnswer<OutputOf<R>>, ServerProblem, InputOf<R>>({
    mutationFn: (input) => call(route, input),
    onSuccess: async (_, input) => {
      onDone?.();
      await readAnew(Object(Object(input).params).realm);
    },
  });
}
