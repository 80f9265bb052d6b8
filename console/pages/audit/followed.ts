// The newest events, asked for again and again. Each request begins where the last one ended, so that following costs the server
// a few rows. An answer has as many rows as the page shows, so that the page misses none of them.
import { useEffect, useState } from 'react';
import { callFilled, ServerProblem } from '../../api/client.ts';
import { listEvents } from '../../generated/routes.ts';
import type { AuditEvent } from './party.tsx';
import type { EventsQuery } from './query.ts';

const LOOK_MS = 2_000;
/** An event's row may be written this much later than its time. */
const LATE_MS = 10_000;
const ASKED = 200;
/** The page stays quick; older rows are in the list without following. */
const MOST_SHOWN = 500;

export interface Followed {
  rows: readonly AuditEvent[] | undefined;
  problem: ServerProblem | undefined;
  /** How many have come since following began. */
  came: number;
}

export function useFollowed(realm: string, query: EventsQuery, isOn: boolean): Followed {
  const [state, setState] = useState<Followed>({ rows: undefined, problem: undefined, came: 0 });
  const key = JSON.stringify(query);
  useEffect(() => {
    if (!isOn) return;
    const ended = new AbortController();
    const asked: EventsQuery = JSON.parse(key);
    let rows: AuditEvent[] | undefined;
    let came = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      const newest = rows?.[0]?.occurredAt;
      const from = newest === undefined ? asked.from : Math.max(asked.from ?? 0, newest - LATE_MS);
      try {
        const known = new Set(rows?.map(({ id }) => id));
        const limit = rows ? MOST_SHOWN : ASKED;
        const query = { ...asked, limit, ...(from !== undefined && { from }) };
        const answer = await callFilled(listEvents, { params: { realm }, query, signal: ended.signal });
        const fresh = (answer.body ?? []).filter(({ id }) => !known.has(id));
        if (rows) came += fresh.length;
        rows = [...fresh, ...(rows ?? [])].sort((one, other) => other.occurredAt - one.occurredAt).slice(0, MOST_SHOWN);
        setState({ rows, problem: undefined, came });
      } catch (cause) {
        if (ended.signal.aborted) return;
        const problem = cause instanceof ServerProblem ? cause : undefined;
        setState((before) => ({ ...before, problem }));
        // a refusal stays one; a server that is away may come back
        if (problem && problem.status !== 0 && problem.status < 500 && problem.status !== 429) return;
      }
      timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [realm, key, isOn]);
  return state;
}
