// The load generator: a process of its own with a number of keep-alive connections that repeat a flow for a time.
import { type FlowName, flows } from './flows.ts';
import { answer } from './processes.ts';
import type { FlowOptions, Prepared, Repeating, Stepping } from './steps.ts';
import { connect, type Wire } from './wire.ts';

export type LoadAsk =
  | { do: 'prepare'; flow: FlowName; port: number; connections: number; options: FlowOptions }
  | { do: 'stock'; count: number }
  | { do: 'run'; seconds: number }
  | { do: 'close' };

/** What one window gave. */
export interface Load {
  done: number;
  seconds: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

const NOTHING: Load = { done: 0, seconds: 0, perSecond: 0, p50: 0, p99: 0 };
let wires: Wire[] = [];
let prepared: Prepared[] = [];

interface Window {
  until: number;
  /** Milliseconds of each answer. */
  took: number[];
  /** Nothing is left to do. */
  ended: boolean;
}

/** Ready requests cost a callback each: what the generator takes of two cores, the server lacks. */
async function repeat(wire: Wire | undefined, { ready }: Repeating, { until, took }: Window): Promise<void> {
  let at = performance.now();
  await wire?.repeat((status) => {
    if (status !== 200) throw new Error(`expected 200: ${status}`);
    const now = performance.now();
    if (now > until) return undefined;
    took.push(now - at);
    at = now;
    return ready();
  }, ready());
}

async function walk({ step }: Stepping, window: Window): Promise<void> {
  for (let at = performance.now(); at < window.until && !window.ended; ) {
    if (!(await step())) window.ended = true;
    else {
      const now = performance.now();
      // what is under way at the end belongs to no window
      if (now <= window.until && !window.ended) window.took.push(now - at);
      at = now;
    }
  }
}

async function run(seconds: number): Promise<Load> {
  const took: number[] = [];
  const began = performance.now();
  const window: Window = { until: began + seconds * 1000, took, ended: false };
  await Promise.all(
    prepared.map((flow, index) => ('ready' in flow ? repeat(wires[index], flow, window) : walk(flow, window))),
  );
  const lasted = Math.min(performance.now() - began, seconds * 1000) / 1000;
  took.sort((a, b) => a - b);
  const quantile = (q: number) => took[Math.min(took.length - 1, Math.floor(took.length * q))] ?? Number.NaN;
  return {
    done: took.length,
    seconds: lasted,
    perSecond: took.length / lasted,
    p50: quantile(0.5),
    p99: quantile(0.99),
  };
}

answer<LoadAsk, Load>(async (ask) => {
  if (ask.do === 'prepare') {
    wires = await Promise.all(Array.from({ length: ask.connections }, () => connect(ask.port)));
    prepared = await Promise.all(wires.map((wire, index) => flows[ask.flow](wire, index, ask.options)));
  } else if (ask.do === 'stock') await Promise.all(prepared.map((flow) => 'stock' in flow && flow.stock?.(ask.count)));
  else if (ask.do === 'run') return run(ask.seconds);
  else for (const wire of wires.splice(0)) wire.close();
  return NOTHING;
});
