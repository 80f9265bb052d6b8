// Windows of time that this process keeps, by a clock that can be set back.

/**
 * Whether the window that began at `from` lasts. If its beginning is ahead, the clock was set back since: the window is over, or it
 * would last as much longer.
 */
export const isWithin = (from: number, at: number, lengthMs: number): boolean => at >= from && at - from < lengthMs;
