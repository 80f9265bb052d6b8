// Owns: pushed authorization requests: a browser opens each once, later steps of the request read it again, and issuing the code deletes it.
// Does not own: client authentication (features/protocol/client-authentication), the rules for a request (requests.ts).
// Implements: RFC 9126, RFC 9101 §3 (a request object may be pushed); decisions "Protocol paths".
import type { By, DomainEvent } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import { createGroupCommit } from '../../../db/group-commit.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { type Form, parseForm } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { text } from '../../../http/texts.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { targetOf } from './checks.ts';
import { eventDataOf } from './grant-data.ts';
import type { RequestObjects } from './request-objects.ts';
import type { RequestParameters, Requests } from './requests.ts';
import * as store from './store.ts';
import { storedParameters } from './stored-parameters.ts';

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const LIFE_SECONDS = 60;
/** The lifetime after the request was opened: as long as a sign-in may take. */
const OPEN_MS = 3_600_000;

/** A request to store, and the data of its event. */
interface Kept {
  row: store.NewPushed;
  event: DomainEvent;
}

export function createPushed({
  sql,
  transact,
  settings,
  requests,
  requestObjects,
  now,
}: {
  sql: Sql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  requests: Requests;
  requestObjects: RequestObjects;
  now: () => Date;
}) {
  const keep = (tx: Tx, { row, event }: Kept): true => {
    store.insertPushed(tx.atLast, row);
    tx.record(event);
    return true;
  };
  const keepTogether = createGroupCommit<Kept, true>({
    transact,
    async work(tx, all) {
      // The batch doesn't wait for a client that is locked: that client's own request does, alone.
      tx.atLast`set local lock_timeout = '50ms'`;
      return all.map((one) => keep(tx, one));
    },
  });
  const openTogether = createGroupCommit<store.Opening, string>({
    transact,
    work: (tx, all) => store.openPushed(tx.sql, all, 'pass over'),
    bookkeeping: true,
  });
  /** Opens a request. If the batch couldn't, because its row was locked, a second try runs alone. */
  async function open(asked: store.Opening): Promise<string | undefined> {
    const together = await openTogether(asked);
    if (together !== undefined) return together;
    const alone = (tx: Tx) => store.openPushed(tx.sql, [asked], 'wait');
    return (await transact(asked.realm, alone, { bookkeeping: true }))[0];
  }

  return {
    /** @throws OAuthError the request's fault, as the authorization endpoint would report it */
    async push(
      by: By,
      realm: string,
      client: ClientView,
      { form: sent, jkt }: { form: Form; jkt: string | undefined },
    ): Promise<{ uri: string; expiresIn: number }> {
      if (sent.get('request_uri') !== undefined)
        throw new OAuthError('invalid_request', 'A pushed request has no request_uri of its own');
      const form = await requestObjects.open(realm, client, sent, { first: true });
      if (jkt !== undefined && (form.get('dpop_jkt') ?? jkt) !== jkt)
        throw new OAuthError('invalid_dpop_proof', 'dpop_jkt is of another key than the proof');
      const parameters = storedParameters(form, client, { dpopJkt: jkt });
      const ofRealm = await settings.of(realm);
      if (!ofRealm) throw new OAuthError('not_found', 'There is no such realm');
      const uri = PREFIX + newSecret();
      const hash = sha256(uri);
      const given: RequestParameters = { ...parseForm(parameters), pushed: hash, signed: form.signed ?? false };
      const asked = await requests.read(realm, ofRealm, given, targetOf(given, client));
      const expiresAt = new Date(now().getTime() + LIFE_SECONDS * 1000);
      const row: store.NewPushed = { realm, hash, client: client.id, parameters, expiresAt };
      const data = eventDataOf(asked);
      const kept: Kept = {
        row,
        event: { type: 'AUTHORIZATION_REQUEST_PUSHED', realm, by, clientId: client.clientId, data },
      };
      if (!(await keepTogether(kept))) await transact(realm, async (tx) => keep(tx, kept));
      return { uri, expiresIn: LIFE_SECONDS };
    },

    /**
     * The parameters of a request: if it names a pushed request, only the pushed ones count. RFC 9126 §4, RFC 9101 §5.
     * @param first this opens the pushed request; it can't be opened a second time
     * @throws OAuthError for a page: the pushed request doesn't exist, so no redirect URI is known
     */
    async resolve(
      realm: string,
      client: ClientView | undefined,
      form: Form,
      { first }: { first: boolean },
    ): Promise<RequestParameters> {
      const uri = form.get('request_uri');
      if (!client || !uri?.startsWith(PREFIX)) return form;
      const asked = { client: client.id, hash: sha256(uri), now: now() };
      const parameters = first
        ? await open({ ...asked, realm, until: new Date(asked.now.getTime() + OPEN_MS) })
        : await store.readPushed(sql, realm, asked);
      if (parameters === undefined)
        throw new OAuthError(
          'invalid_request_uri',
          'The request_uri has expired, was used, or is not the application’s',
          {
            page: { told: text('authorize.requestOver'), back: client },
          },
        );
      // The browser carries only the reference on, not the pushed parameters.
      const reference = new URLSearchParams({ client_id: client.clientId, request_uri: uri }).toString();
      return { ...parseForm(parameters), text: reference, pushed: asked.hash, signed: true };
    },
  };
}
export type Pushed = ReturnType<typeof createPushed>;
