// Ends a sign-in that has everything it needs, in spite of concurrent events: a double click, a session that the browser
// got in the meantime, a proof that was withdrawn. finish.ts writes the end.
import type { FastifyReply } from 'fastify';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { type Continuation, continuationOf } from './continuation.ts';
import type { Answer, createFinish, Ending } from './finish.ts';
import { withSessionOfOtherTab } from './machine.ts';
import type { Run } from './run.ts';
import type { Storage } from './storage.ts';

type Continuations = readonly Continuation[];

interface EndDeps {
  sessions: Pick<Sessions, 'current'>;
  storage: Storage;
  run: Run['run'];
  finish: ReturnType<typeof createFinish>;
}

export function createEnd({ sessions, storage, run, finish }: EndDeps) {
  /** A proof no longer holds: the user must start again. */
  async function withdraw(reply: FastifyReply, { held, ...visit }: Ending): Promise<void> {
    const { state } = await run(visit, visit.state, { do: 'withdrawn' });
    await storage.keep(reply, visit.realm, held, state);
  }

  /**
   * After a double click the browser uses only the second response, so it never gets the session of the first one. The
   * second form proved everything, too, so it ends a sign-in of its own.
   */
  async function endOnItsOwn(
    reply: FastifyReply,
    ending: Ending,
    continuations: Continuations,
  ): Promise<Answer | undefined> {
    const token = newSecret();
    const held = { ...ending.held, token, id: sha256(token), stored: false };
    const continuation = continuationOf(continuations, ending.realm, ending.state.purpose);
    const answer = await finish(reply, { ...ending, held }, continuation);
    return typeof answer === 'string' ? undefined : answer;
  }

  return {
    withdraw,
    endOnItsOwn,

    /** The answer; undefined: another request has ended the sign-in, and this one follows the cookie. */
    async end(reply: FastifyReply, reached: Ending, continuations: Continuations): Promise<Answer | undefined> {
      const { request, realm, held, state } = reached;
      const session = state.before ? undefined : await sessions.current(request, realm);
      const ending = { ...reached, state: withSessionOfOtherTab(state, session) };
      const answer = await finish(reply, ending, continuationOf(continuations, realm, state.purpose));
      if (answer === 'withdrawn') {
        await withdraw(reply, ending);
        return undefined;
      }
      if (answer !== 'lost') return answer;
      if ((await storage.reload(realm, held))?.state.is === 'done') return endOnItsOwn(reply, ending, continuations);
      storage.isRow(reply, realm, held);
      return undefined;
    },
  };
}
