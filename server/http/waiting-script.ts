// The script of a page that waits: it asks in the background, and loads the page anew only when there is another one. So nobody loses
// their place, and readers say nothing twice. Without it the page is loaded anew every few seconds.
export const waitingScript = `(() => {
const { dataset } = document.querySelector('[data-waiting]');
const look = async () => {
  const answer = await fetch(dataset.waiting, { cache: 'no-store', redirect: 'error' });
  if (answer.ok && (await answer.text()) !== dataset.mark) return location.reload();
};
const later = () => setTimeout(() => look().catch(() => {}).then(later), dataset.seconds * 1000);
later();
})();`;
