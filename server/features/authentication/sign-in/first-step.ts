// The first step of a sign-in under settings that need not be stored. Nothing is stored.
import type { FastifyRequest } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Run } from './run.ts';
import type { View } from './service.ts';
import type { BeginInput, Open } from './state.ts';

export const createFirstStep =
  ({
    begun,
    nextStepOf,
    pageOf,
    besideOf,
    asksDevice,
  }: Pick<Run, 'nextStepOf' | 'pageOf' | 'besideOf' | 'asksDevice'> & {
    begun(input: BeginInput, policy: RealmSettingsDto): Open;
  }) =>
  async (request: FastifyRequest, input: BeginInput, policy: RealmSettingsDto): Promise<View> => {
    const state = begun(input, policy);
    const visit = { request, realm: input.realm, policy };
    const nextStep = await nextStepOf(visit, state);
    const [page, beside, asks] = await Promise.all([
      pageOf(visit, state, nextStep),
      besideOf(visit, state, nextStep),
      asksDevice(visit, state, nextStep),
    ]);
    return { state, settings: policy, nextStep, page, beside, asksDevice: asks, csrf: '', mark: undefined };
  };
