// How a webhook's secret is sealed.
import type { Seal } from '../../../crypto/seal.ts';
import { sealed } from '../../../resource/at-rest.ts';

export const webhookSecret = (seal: Seal) => sealed(seal, 'webhook');
