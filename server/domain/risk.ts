// The signs of risk in a sign-in, as sessions store them. features/authentication/risk computes the score.
import type { RiskReason } from '../contract/risk.ts';

export interface Finding {
  reason: RiskReason;
  points: number;
}
