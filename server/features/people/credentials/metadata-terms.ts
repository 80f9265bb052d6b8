// The job that refreshes FIDO's metadata. Its work (metadata-job.ts) is loaded if the server has an address or a file of it.
import { z } from 'zod';

export const authenticatorMetadataTerms = {
  name: 'authenticator-metadata',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 1800,
  concurrency: 1,
  everySeconds: 21_600,
};
