// What speaks for a risk in a sign-in, as sessions keep it. Scoring is features/risk's.
export type RiskReason = 'new-device' | 'new-network' | 'failed-attempts' | 'impossible-speed' | 'unusual-hour';
export interface Finding {
  reason: RiskReason;
  points: number;
}
