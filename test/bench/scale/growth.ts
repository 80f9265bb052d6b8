// Owns: how a case's growth is taken: the same request at both installations in turn, and the medians beside each other.
// Does not own: the cases, the installations (site.ts).
// Implements: `npm run bench:scale`: a ratio says how much dearer a request gets when there is a thousand times as much.
import { type Goal, median, number } from '../bench.ts';
import type { Side, Site } from './site.ts';

export interface Lab {
  site: Site;
  rounds: number;
  quick: boolean;
  say(line: string): void;
}

/** The result of a case. */
export interface Growth {
  /** The large installation's figure over the small one's, or a figure alone where the goal is of it. */
  ratio: number;
  /** The figures behind the ratio, in words. */
  figures: string;
}

export interface ScaleCase {
  /** For `--only`. */
  name: string;
  title: string;
  goal: Goal;
  run(lab: Lab): Promise<Growth>;
}

/** Within twice the small installation's: what does not grow, or grows by the depth of an index. */
export const FLAT: Goal = { atMost: 2 };

/** Sends a request, reads its answer, and throws where that isn't good. `turn` differs from request to request. */
export type Asking = (turn: number) => Promise<unknown>;

/** From the sixth time on PostgreSQL may have one plan of a prepared statement for all values. */
const WARM = 8;
/** A request that takes so long is not asked again and again. */
const LONG_MS = 3_000;

/** The times of a request at both installations, asked in turn. */
export async function timesOf(
  { site, rounds, quick }: Lab,
  prepare: (side: Side) => Promise<Asking> | Asking,
): Promise<Record<Side['name'], number>> {
  const sides = [site.small, site.large];
  const asking = await Promise.all(sides.map(async (side) => ({ ask: await prepare(side), took: [] as number[] })));
  let isLong = false;
  for (let turn = 0; turn < WARM + rounds; turn += 1) {
    for (const { ask, took } of asking) {
      const began = performance.now();
      await ask(turn);
      const milliseconds = performance.now() - began;
      if (turn >= WARM || isLong || quick) took.push(milliseconds);
      if (milliseconds > LONG_MS) isLong = true;
    }
    if ((isLong && turn >= 2) || (quick && turn >= 3)) break;
  }
  const [small = Number.NaN, large = Number.NaN] = asking.map(({ took }) => median(took));
  return { small, large };
}

export const growthOf = ({ small, large }: Record<Side['name'], number>, unit: string): Growth => ({
  ratio: large / small,
  figures: `${number(small)} → ${number(large)} ${unit}`,
});

/** A case of one request, whose time is compared. */
export const requestCase = (
  name: string,
  title: string,
  prepare: (side: Side) => Promise<Asking> | Asking,
  goal: Goal = FLAT,
): ScaleCase => ({
  name,
  title,
  goal,
  run: async (lab) => growthOf(await timesOf(lab, prepare), 'ms'),
});

/** Reads an answer to its end; throws unless it has the expected status. */
export async function read(asked: Promise<Response>, expected = 200): Promise<string> {
  const answer = await asked;
  const text = await answer.text();
  if (answer.status !== expected) throw new Error(`${answer.url}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
}

/** A case of one GET of the admin API. */
export const adminCase = (name: string, title: string, at: string | ((turn: number) => string)): ScaleCase =>
  requestCase(
    name,
    title,
    ({ admin }) =>
      (turn) =>
        read(admin(typeof at === 'string' ? at : at(turn))),
  );
