// The list of the user's sessions and known browsers on the account page.
import type { Session } from '../../../contract/sessions.ts';
import { deviceName } from '../../../http/device-name.ts';
import { type Html, html, isolated } from '../../../http/html.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { SectionParts } from './sections.ts';
import { nameOfView } from './views.ts';

type Browser = Awaited<ReturnType<Browsers['list']>>[number];

export interface SessionListView {
  sessions: readonly Session[];
  browsers: readonly Browser[];
  /** The session that loads the page. */
  currentId: string;
  /** The names that users see of clients, by client id. */
  titles: ReadonlyMap<string, string>;
}

/** Pairs a session with a known browser where only one of each has that program; no key connects the two. */
function pairsOf(sessions: readonly Session[], browsers: readonly Browser[]): ReadonlyMap<string, Browser> {
  const alone = <T extends { userAgent: string | null }>(all: readonly T[], one: T) =>
    one.userAgent !== null && all.filter(({ userAgent }) => userAgent === one.userAgent).length === 1;
  return new Map(
    sessions.flatMap((session) => {
      const browser = browsers.find(({ userAgent }) => userAgent === session.userAgent);
      return browser && alone(sessions, session) && alone(browsers, browser) ? [[session.id, browser] as const] : [];
    }),
  );
}

export function sessionList(
  { sessions, browsers, currentId, titles }: SessionListView,
  { post, time, mayChange }: SectionParts,
): Html {
  const pairs = pairsOf(sessions, browsers);
  const paired = new Set([...pairs.values()].map(({ id }) => id));
  const forget = ({ id, userAgent }: Browser): Html | false =>
    mayChange &&
    post(
      `browsers/${id}/forget`,
      html`<button class="quiet">${text('browsers.forget')}<span class="hidden"> ${deviceName(userAgent)}</span></button>`,
    );
  const known = ({ firstSeenAt }: Browser): Html =>
    html`<div class="soft">${textHtml('browsers.known', { when: time(firstSeenAt) })}</div>`;

  const sessionRow = (session: Session): Html => {
    const device = deviceName(session.userAgent);
    const here = session.id === currentId;
    const browser = pairs.get(session.id);
    const address = session.ipAddress ?? text('account.addressUnknown');
    const end = html`<button class="quiet">${text('account.end')}<span class="hidden">${text('account.endSession', { device, address })}</span></button>`;
    return html`<li>
<div><strong>${device}</strong>${here && html`<span class="badge">${text('account.thisDevice')}</span>`}
${session.impersonator !== null && html`<div class="soft">${textHtml('account.sessionActing', { name: isolated(session.impersonator) })}</div>`}
<div class="soft">${textHtml('account.signedIn', { address: isolated(address), when: time(session.startedAt) })}</div>
<div class="soft">${textHtml('account.lastSeen', { when: time(session.lastSeenAt) })}</div>
${session.clients.length > 0 && html`<div class="soft">${session.clients.map((id, i) => html`${i > 0 && ' · '}${isolated(titles.get(id) ?? id)}`)}</div>`}
${browser && known(browser)}</div>
${!here && mayChange && post(`sessions/${session.id}/end`, end)}
${browser && forget(browser)}
</li>`;
  };
  const browserRow = (browser: Browser): Html => html`<li>
<div><strong>${deviceName(browser.userAgent)}</strong>
${known(browser)}
<div class="soft">${textHtml('account.methodLastUsed', { when: time(browser.lastSeenAt) })}</div></div>
${forget(browser)}
</li>`;

  return html`<h2>${nameOfView('devices')}</h2>
${browsers.length > 0 && html`<p class="soft">${text('browsers.lead')}</p>`}
<ul class="rows">
${sessions.map(sessionRow)}
${browsers.flatMap((one) => (paired.has(one.id) ? [] : [browserRow(one)]))}
</ul>
${mayChange && sessions.length > 1 && html`<div class="actions">${post('sessions/end-others', html`<button class="quiet">${text('account.endOthers')}</button>`)}</div>`}`;
}
