// The name of a type of rich authorization requests, in its declaration and in clients that may use it. RFC 9396 §2.
import { z } from 'zod';

export const DetailTypeName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be printable ASCII without blanks, quotes and backslashes')
  .refine((s) => s !== '__proto__', 'must be another name');
