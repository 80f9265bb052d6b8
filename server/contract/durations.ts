// An hour and a day, in the two units in which the server counts: settings and TTLs in seconds, the clock in milliseconds.
export const HOUR_SECONDS = 3_600;
export const HOUR_MS = HOUR_SECONDS * 1000;
export const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1000;
