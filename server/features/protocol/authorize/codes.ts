// Issues authorization codes: stores and audits each. A pushed request is used up by its code.
// features/protocol/token redeems codes; the SQL of their rows is domain/grants.ts's.
import type { By, DomainEvent } from '../../../contract/events.ts';
import { newToken, sha256 } from '../../../crypto/tokens.ts';
import { createGroupCommit } from '../../../db/group-commit.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Factors } from '../../../domain/factors.ts';
import { insertCode, insertCodes, insertFirstCode, type NewCode } from '../../../domain/grants.ts';
import { actorOf, personOf } from '../../../domain/session.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Writes } from '../../authentication/sign-in/continuation.ts';
import type { Consents } from '../../people/consent/service.ts';
import type { AuthorizationRequest } from './checks.ts';
import { type Approval, eventDataOf, grantDataOf } from './grant-data.ts';
import { dropPushed, holdPushed, takePushed } from './store.ts';

const CODE_MS = 60_000;

/** The realm and address of a request. */
interface At {
  realm: string;
  ipAddress: string;
}
/** A code to store. */
interface KeptCode {
  row: NewCode & { realm: string };
  /** The digest of the pushed request that the code answers. */
  pushed: Buffer | undefined;
  issued: DomainEvent;
}

export function createCodes({
  transact,
  factors,
  consents,
  now,
}: {
  transact: Transact;
  factors: Factors;
  consents: Pick<Consents, 'grant'>;
  now: () => Date;
}) {
  function newCode({ realm, ipAddress }: At, asked: AuthorizationRequest, approval: Approval) {
    const { client, pushed } = asked;
    const { session } = approval;
    const by: By = { actor: actorOf(session), ipAddress };
    const code = newToken('svc_ac_');
    const row = {
      realm,
      hash: sha256(code),
      client: client.id,
      sessionId: session.id,
      userId: session.userId,
      data: grantDataOf(factors, asked, approval),
      expiresAt: new Date(now().getTime() + CODE_MS),
    };
    const issued: DomainEvent = {
      type: 'CODE_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: personOf(session),
      data: { ...eventDataOf(asked), sessionId: session.id },
    };
    return { code, by, kept: { row, pushed, issued } };
  }

  /**
   * Codes of existing sessions share a commit; a code that the shared write skips is written alone, which finds the
   * reason.
   */
  const keepTogether = createGroupCommit<KeptCode, true>({
    transact,
    async work(tx, codes) {
      const held = await holdPushed(
        tx.sql,
        codes.map(({ row: { realm }, pushed: hash }) => ({ realm, hash })),
      );
      const first = new Set(new Map(codes.map((code, n) => [code.pushed?.toString('hex') ?? n, code])).values());
      const chosen = codes.filter((code, n) => held[n] && first.has(code));
      const kept =
        chosen.length === 0
          ? []
          : await insertCodes(
              tx.sql,
              chosen.map(({ row }) => row),
            );
      const done = new Set(chosen.filter((_, n) => kept[n]));
      for (const { row, pushed: hash, issued } of done) {
        if (hash) dropPushed(tx.atLast, row.realm, hash);
        tx.record(issued);
      }
      return codes.map((code) => (done.has(code) ? true : undefined));
    },
  });

  return {
    /**
     * @param agreed the user has just consented, which is stored with the code.
     * @throws OAuthError `login_required`, `invalid_request`
     */
    async give(
      at: At,
      asked: AuthorizationRequest,
      { agreed, ...approval }: Approval & { agreed: boolean },
    ): Promise<string> {
      const { realm } = at;
      const { code, by, kept } = newCode(at, asked, approval);
      if (!agreed && (await keepTogether(kept))) return code;
      const { userId } = approval.session;
      await transact(realm, async (tx) => {
        if (!(await insertCode(tx.sql, realm, kept.row)))
          throw new OAuthError('login_required', 'The session has ended meanwhile');
        if (kept.pushed && !(await takePushed(tx.sql, realm, kept.pushed)))
          throw new OAuthError('invalid_request', 'The pushed request was used before');
        if (agreed) await consents.grant(tx, by, realm, { userId, client: asked.client, agreed: asked.toAgree });
        tx.record(kept.issued);
      });
      return code;
    },

    /** The code for a session that this request begins: call `write` in the session's transaction. */
    first(at: At, asked: AuthorizationRequest, approval: Approval): { code: string; write(tx: Writes): void } {
      const { code, kept } = newCode(at, asked, approval);
      return {
        code,
        write({ atLast, record }) {
          insertFirstCode(atLast, at.realm, kept.row);
          if (kept.pushed) dropPushed(atLast, at.realm, kept.pushed);
          record(kept.issued);
        },
      };
    },
  };
}
