// Owns: a person in front of a realm's pages without a browser: cookies, forms as the pages show them, redirects by hand.
// Does not own: what a real browser does (test/browser).
// Implements: server tests at the level of use.
export interface ShownPage {
  status: number;
  url: string;
  text: string;
  heading: string;
  headers: Headers;
  /** Names and values of the first form's fields. */
  fields: Record<string, string>;
}

/** Markup decoded to text. */
export const decode = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
  );

/** Soft hyphens and word joiners, which only say where lines may break. */
const LINE_BREAKS = /[\u00ad\u2060]/g;

function fieldsOf(text: string): Record<string, string> {
  const form = /<form[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    if (name !== undefined && !/type="(?:checkbox|radio)"/.test(tag))
      fields[name] = decode(/value="([^"]*)"/.exec(tag)?.[1] ?? '');
  }
  return fields;
}

/** A person with a cookie jar of their own; `userAgent` and `address` are what the server sees of them. */
export function createPerson(baseUrl: string, headers: Record<string, string> = {}) {
  const jar = new Map<string, string>();
  async function once(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, baseUrl), {
      ...init,
      redirect: 'manual',
      headers: { ...headers, ...(cookie === '' ? {} : { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/expires=Thu, 01 Jan 1970|max-age=0(;|$)/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
  async function show(path: string, init: RequestInit = {}): Promise<ShownPage> {
    let url = new URL(path, baseUrl);
    let response = await once(path, init);
    for (let hops = 0; response.status >= 300 && response.status < 400 && hops < 10; hops += 1) {
      const to = new URL(response.headers.get('location') ?? '', url);
      await response.body?.cancel();
      if (to.origin !== new URL(baseUrl).origin)
        return {
          status: response.status,
          url: String(to),
          text: '',
          heading: '',
          headers: response.headers,
          fields: {},
        };
      url = to;
      response = await once(`${to.pathname}${to.search}`);
    }
    const text = await response.text();
    return {
      status: response.status,
      url: String(url),
      text,
      heading: decode(/<h1>([\s\S]*?)<\/h1>/.exec(text)?.[1] ?? '').replace(LINE_BREAKS, ''),
      headers: response.headers,
      fields: fieldsOf(text),
    };
  }
  const post = (path: string, fields: Record<string, string>) =>
    show(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  return {
    jar,
    once,
    open: (path: string) => show(path),
    post,
    /** Fills in the page's form and sends it. */
    fill: (page: ShownPage, fields: Record<string, string>) =>
      post(new URL(page.url).pathname, { ...page.fields, do: 'next', ...fields }),
  };
}
export type Person = ReturnType<typeof createPerson>;
