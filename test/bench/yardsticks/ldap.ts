// The limit of a sync: reading the same entries, page by page, by the library that the server reads them with.
import { Client } from 'ldapts';
import { answer } from '../processes.ts';

export interface LdapAsk {
  url: string;
  bindDn: string;
  password: string;
  base: string;
  attributes: string[];
}

/** Entries a second. */
answer<LdapAsk, number>(async ({ url, bindDn, password, base, attributes }) => {
  const client = new Client({ url });
  try {
    await client.bind(bindDn, password);
    const began = performance.now();
    let count = 0;
    const pages = client.searchPaginated(base, { filter: '(uid=*)', attributes, paged: { pageSize: 1000 } });
    for await (const { searchEntries } of pages) count += searchEntries.length;
    return count / ((performance.now() - began) / 1000);
  } finally {
    await client.unbind();
  }
});
