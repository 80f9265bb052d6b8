// A page of the server inside of this one, as large as in a window and scaled to its place. The frame has a document of its own
// without any address: its style sheet is set by the DOM, nothing in it runs or is followed, and it loads nothing.
import { useEffect, useRef, useState } from 'react';
import { inertDocument } from './inert-html.ts';

const SIZES = {
  desktop: { width: 760, height: 660 },
  wide: { width: 1100, height: 720 },
  phone: { width: 390, height: 720 },
} as const;
export type FrameSize = keyof typeof SIZES;

/** Takes the focus of no page away, and loads nothing: pictures of other sites show their names. */
function makeStill(body: HTMLElement): void {
  for (const field of body.querySelectorAll('[autofocus]')) field.removeAttribute('autofocus');
  for (const picture of body.querySelectorAll('img'))
    if (!picture.getAttribute('src')?.startsWith('data:image/')) picture.removeAttribute('src');
}

/** Writes the page into the frame. @returns its height */
function draw(frame: HTMLIFrameElement, html: string, height: number): number {
  const { contentDocument: inside, contentWindow } = frame;
  if (!inside || !contentWindow) return height;
  const parsed = inertDocument(html);
  const css = [...parsed.querySelectorAll('head script')].map(({ textContent }) => textContent).join('\n');
  const { CSSStyleSheet: Sheet } = contentWindow as Window & typeof globalThis;
  const sheet = new Sheet();
  sheet.replaceSync(css);
  inside.adoptedStyleSheets = [sheet];
  makeStill(parsed.body);
  const { documentElement: root } = inside;
  root.lang = parsed.documentElement.lang;
  root.dir = parsed.documentElement.dir;
  inside.body.replaceWith(inside.adoptNode(parsed.body));
  // neither the keyboard nor the pointer gets into a page that does nothing
  inside.body.inert = true;
  // the page is at least as high as its window, so it is measured in the lowest one
  frame.style.height = `${height}px`;
  const whole = Math.max(height, root.scrollHeight);
  frame.style.height = `${whole}px`;
  return whole;
}

export function PageFrame({ html, name, size }: { html: string; name: string; size: FrameSize }) {
  const place = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const [scale, setScale] = useState(1);
  const { width, height: lowest } = SIZES[size];
  const [height, setHeight] = useState<number>(lowest);
  useEffect(() => {
    const of = place.current;
    if (!of) return undefined;
    const scaleToPlace = () => setScale(Math.min(1, of.clientWidth / width));
    const watch = new ResizeObserver(scaleToPlace);
    watch.observe(of);
    scaleToPlace();
    return () => watch.disconnect();
  }, [width]);
  const show = () => frame.current && setHeight(draw(frame.current, html, lowest));
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew for another page or another size alone
  useEffect(() => void show(), [html, lowest, width]);
  return (
    <div ref={place} className="page-frame" style={{ height: height * scale }}>
      <iframe
        ref={frame}
        title={name}
        sandbox="allow-same-origin"
        tabIndex={-1}
        onLoad={show}
        style={{ width, height, transform: `scale(${scale})`, marginInlineStart: `max(0px, (100% - ${width}px) / 2)` }}
      />
    </div>
  );
}
