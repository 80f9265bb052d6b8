// What the bench asks of the operating system: which cores a process runs on, its processor time, its memory.
// Where Linux' /proc or taskset is missing, nothing is pinned and these figures are absent; the report says so.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const cores = os.availableParallelism();

/** The numbers of the cores that this process may use, lowest first; empty where that can't be known. */
export function usableCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(read('/proc/self/status'))?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [from = '', to = from] = part.split('-');
    return from === '' ? [] : Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
  });
}

export async function canPin(): Promise<boolean> {
  return run('taskset', ['--version']).then(
    () => usableCores().length > 0,
    () => false,
  );
}

/** Lets a process, its threads and its children run on these cores alone. */
export async function pin(pid: number, on: readonly number[]): Promise<void> {
  for (const each of [pid, ...childrenOf(pid)]) {
    // one that has ended meanwhile needs no core
    await run('taskset', ['-a', '-c', '-p', on.join(','), String(each)]).catch(() => {});
  }
}

/** Seconds of processor time that a process has used; undefined where it can't be known. */
export function processorSeconds(pid: number): number | undefined {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  // USER_HZ is 100 on every Linux
  return Number.isNaN(ticks) ? undefined : ticks / 100;
}

/** The same with its children, as PostgreSQL is one process for each connection. */
export function processorSecondsOfAll(pid: number): number {
  let total = 0;
  for (const each of [pid, ...childrenOf(pid)]) total += processorSeconds(each) ?? 0;
  return total;
}

/**
 * Microseconds of a process' time for each request of some windows: other people's load on the machine moves it little.
 * @param seconds how its time is read: alone, or with its children
 */
export function costOf(pid: number, seconds: (pid: number) => number | undefined = processorSeconds) {
  const costs: number[] = [];
  return {
    async of<Told extends { done: number }>(window: () => Promise<Told>): Promise<Told> {
      const before = seconds(pid) ?? Number.NaN;
      const told = await window();
      costs.push((((seconds(pid) ?? Number.NaN) - before) / told.done) * 1e6);
      return told;
    },
    median: (): number => costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN,
  };
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && / \S (\d+) /.exec(read(`/proc/${name}/stat`))?.[1] === String(pid))
      .map(Number);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
