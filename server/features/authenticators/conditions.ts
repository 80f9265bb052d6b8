// The conditions: does this person have a second factor, is this sign-in risky. Scoring is features/risk's.
import { z } from 'zod';
import type { Condition } from './authenticator.ts';

const NoConfig = z.strictObject({});

export const mfaEnabled: Condition = {
  id: 'mfa-enabled',
  displayName: 'User has MFA enabled',
  factorClass: 'NONE',
  levelOfAssurance: 0,
  category: 'CONDITION',
  identifies: false,
  configSchema: NoConfig,
  holds: ({ secondFactor }) => secondFactor,
};

const BANDS = ['low', 'medium', 'high'] as const;
const RiskConfig = z.strictObject({
  minimumBand: z
    .enum(BANDS)
    .optional()
    .describe('Holds from this band up; left out: where the band’s action is step_up'),
});

export const riskCondition: Condition = {
  id: 'risk',
  displayName: 'Adaptive risk condition',
  factorClass: 'NONE',
  levelOfAssurance: 0,
  category: 'CONDITION',
  identifies: false,
  configSchema: RiskConfig,
  // Whoever the scorer suspects may not answer it with a factor that they set up this minute.
  forbidsEnrolment: true,
  holds({ riskAction, riskBand }, config) {
    const { minimumBand } = RiskConfig.parse(config);
    if (minimumBand === undefined) return riskAction === 'step_up';
    return riskBand !== undefined && BANDS.indexOf(riskBand) >= BANDS.indexOf(minimumBand);
  },
};
