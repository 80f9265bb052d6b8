// The script of a page that waits: it polls in the background, and reloads the page only when another one is due. Users keep their
// place, and screen readers don't repeat the page. Without the script the page reloads every few seconds.
export const waitingScript = `(() => {
const { dataset } = document.querySelector('[data-waiting]');
const look = async () => {
  const answer = await fetch(dataset.waiting, { cache: 'no-store', redirect: 'error' });
  if (answer.ok && (await answer.text()) !== dataset.mark) return location.reload();
};
const later = () => setTimeout(() => look().catch(() => {}).then(later), dataset.seconds * 1000);
later();
})();`;
