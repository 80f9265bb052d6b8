// The limit of every token: synchronous RS256/2048 signatures a second, with nothing beside them.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { answer } from '../processes.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
// as long as a token's header and claims
const input = Buffer.from(randomBytes(300).toString('base64url'));

answer<{ seconds: number }, number>(async ({ seconds }) => {
  const began = performance.now();
  const until = began + seconds * 1000;
  let count = 0;
  while (performance.now() < until) {
    sign('sha256', input, privateKey);
    count += 1;
  }
  return count / ((performance.now() - began) / 1000);
});
