// What speaks for a risk in a sign-in, as sessions keep it. Scoring is features/authentication/risk's.
import type { RiskReason } from '../contract/risk.ts';

export interface Finding {
  reason: RiskReason;
  points: number;
}
