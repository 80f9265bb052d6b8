// The composition root's part for all that a start needs: each group's services, on those of the group before it, and the jobs.
// It decides nothing. Implements: a start loads little (performance, "start" and "memory").
import { createConfiguration } from './configuration.ts';
import { type AppOptions, createInfrastructure } from './infrastructure.ts';
import type { Rest } from './jobs.ts';
import { createObservation } from './observation.ts';
import { createProtocol, type Protocol } from './protocol.ts';

export type Start = Protocol;

/** @param rest loads the parts that a start doesn't need (later.ts) */
export function createStart(given: AppOptions, rest: () => Promise<Rest>): Start {
  const infrastructure = createInfrastructure(given);
  const observed = { ...infrastructure, ...createObservation(infrastructure) };
  const configuration = { ...observed, ...createConfiguration(observed) };
  return { ...configuration, ...createProtocol(configuration, rest) };
}
