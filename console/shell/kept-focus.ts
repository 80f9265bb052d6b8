// The focus stays on the page. The element with the focus may be removed, or be disabled while the server is asked. Then the row
// or the dialog around it gets the focus, or else the page's heading. A disabled control gets it back once it can be used, unless
// the reader has gone on by then.
const AROUND = '[role=row][tabindex], [role=dialog], [role=alertdialog]';

interface Focused {
  element: Element;
  around: Element[];
}
let last: Focused | undefined;
/** A disabled control, and what has the focus in its place. */
let lent: { control: Element; to: Element } | undefined;
let isLooking = false;

function around(element: Element): Element[] {
  const found: Element[] = [];
  for (let one = element.parentElement; one !== null; one = one.parentElement) if (one.matches(AROUND)) found.push(one);
  return found;
}
const isUsable = (element: Element): boolean => element.isConnected && !element.matches(':disabled');
const focus = (element: Element | null | undefined): void => {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
};

/** After two frames, as React Aria gives the focus back in the next one. */
function lookSoon(): void {
  if (isLooking) return;
  isLooking = true;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      isLooking = false;
      look();
    }),
  );
}

function look(): void {
  const { activeElement, body } = document;
  if (lent && activeElement === lent.to && isUsable(lent.control)) {
    const { control } = lent;
    lent = undefined;
    focus(control);
    return;
  }
  // the reader has gone on from there
  if (lent && activeElement !== lent.to && activeElement !== body) lent = undefined;
  if (activeElement !== body || !last) return;
  const { element } = last;
  if (isUsable(element)) {
    // it was disabled for a moment only; nothing else has the focus
    focus(element);
    return;
  }
  const to = last.around.find(isUsable) ?? document.querySelector('main h1');
  if (to === null) return;
  focus(to);
  lent = element.isConnected ? { control: element, to } : undefined;
}

export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) last = { element: target, around: around(target) };
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    // the reader has left it, for nothing that could have the focus
    if (relatedTarget === null && target instanceof Element)
      queueMicrotask(() => {
        if (last?.element === target && isUsable(target)) last = undefined;
      });
  });
  new MutationObserver(() => {
    if (document.activeElement === document.body || lent) lookSoon();
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}
