// Numbers in the environment.
import { z } from 'zod';

/** A number. The messages tell text that is no number from a number out of bounds. */
export const number = () =>
  z.coerce.number({ error: ({ code }) => (code === 'invalid_type' ? 'must be a number' : undefined) });
export const wholeNumber = () => number().int('must be a whole number');
