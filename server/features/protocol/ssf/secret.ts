// How the Authorization header of a stream's receiver is sealed.
import type { Seal } from '../../../crypto/seal.ts';
import { sealed } from '../../../resource/at-rest.ts';

export const streamSecret = (seal: Seal) => sealed(seal, 'signal-stream', 'authorization_header');
