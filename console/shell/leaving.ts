// Leaving the console: what is shown, kept and typed goes with the session, in every tab.
import { SIGN_IN } from './addresses.ts';

const tabs = new BroadcastChannel('realmkeeper.console');
const SIGNED_OUT = 'signed-out';

function leave(): void {
  // drafts of wizards, and the address of the last page
  sessionStorage.clear();
  location.replace(SIGN_IN);
}

/** After the session has ended on purpose: all tabs go to the sign-in. */
export function leaveEverywhere(): void {
  tabs.postMessage(SIGNED_OUT);
  leave();
}

/** Follows other tabs that sign out. A page that the browser kept, and shows again on "back", is loaded anew. */
export function leaveWithOthers(): void {
  tabs.addEventListener('message', ({ data }) => {
    if (data === SIGNED_OUT) leave();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    document.body.hidden = true;
    location.reload();
  });
}
