// Fetches metadata from an address that an administrator has set.
import type { Outbound, OutboundAnswer } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { metadataProblem } from './metadata.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
const ACCEPT = 'application/samlmetadata+xml, application/xml;q=0.9, text/xml;q=0.8';

/** @throws Problem `invalid-request` */
export const createFetch =
  (outbound: Pick<Outbound, 'fetch'>) =>
  async (url: string): Promise<Buffer> => {
    const answer: OutboundAnswer = await outbound
      .fetch(url, { ...LIMITS, headers: { accept: ACCEPT } })
      .catch((error) => {
        if (!(error instanceof OutboundError)) throw error;
        throw metadataProblem({ path: 'metadataUrl', message: error.message });
      });
    if (answer.status !== 200) throw metadataProblem({ path: 'metadataUrl', message: `answered ${answer.status}` });
    return answer.body;
  };
