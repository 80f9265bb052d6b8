// Finds the issuer of a cluster's ServiceAccount tokens in the token that the cluster gave this server, so that it
// needn't be configured. The token isn't verified: it is our own, from a file that the kubelet writes. Decisions "The
// operator's first sign-in".
import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose/jwt/decode';
import { z } from 'zod';

const Claims = z.object({ iss: z.url({ protocol: /^https$/ }) });

/** @throws Error naming the file, if it contains no such token */
export function issuerIn(tokenFile: string): string {
  try {
    return Claims.parse(decodeJwt(readFileSync(tokenFile, 'utf8').trim())).iss;
  } catch (cause) {
    throw new Error(`SVC_CLUSTER_TOKEN_FILE: ${tokenFile} holds no ServiceAccount token with an https issuer`, {
      cause,
    });
  }
}
