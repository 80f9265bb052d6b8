// Anonymous health, metrics and build information. Specification 4.9 and 6.3; decisions "Monitoring".
import { z } from 'zod';

const Status = z.enum(['UP', 'DOWN']);
export const Health = z
  .object({
    status: Status,
    groups: z.array(z.string()).optional(),
    components: z.record(z.string(), z.object({ status: Status })).optional(),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;
export const Info = z
  .object({ build: z.object({ name: z.string(), version: z.string() }), runtime: z.object({ node: z.string() }) })
  .meta({ id: 'Info' });
