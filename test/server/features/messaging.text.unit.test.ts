// Owns: the text of an HTML message, and how little time a message's template takes, whatever it holds.
// Does not own: which templates are taken (messaging.test.ts).
// Implements: specification 2.6.
import { beforeAll, describe, expect, test } from 'vitest';
import { htmlFault } from '../../../server/contract/html-template.ts';
import { PLACEHOLDER, placeholderFault } from '../../../server/contract/message-drivers.ts';
import { textOfHtml } from '../../../server/features/configuration/messaging/text-of-html.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';

let most = 0;
beforeAll(async () => {
  most = await mostOfARequest();
});

describe('the text of an HTML message', () => {
  test.each([
    ['lines end where blocks do', '<p>Hello\n  Ada,</p><p>welcome.</p>', 'Hello Ada,\nwelcome.'],
    [
      'an address stands behind its words',
      'Go <a class="x" href="https://a.example/?b=1">there</a>!',
      'Go there (https://a.example/?b=1)!',
    ],
    [
      'but stands once where it is its own words',
      '<a href="https://a.example">https://a.example</a>',
      'https://a.example',
    ],
    ['an anchor without an address is its words', '<a name="top">Top</a> <a href=x>x</a>', 'Top x'],
    ['what nobody sees is left out', '<head><title>T</title></head><style >p{}</style>a<script>b</script\n>c', 'ac'],
    ['what nothing ends is text', 'a<style>b', 'ab'],
    ['a sign that is no tag is text', '1 < 2', '1 < 2'],
    ['entities are their signs, once', '&lt;b&gt; &amp;lt; &quot;&#39;', '<b> &lt; "\''],
    ['empty lines are one', '<p>a</p><br><br><br> <p>b</p>', 'a\n\nb'],
    ['a name begins like another', '<header>a</header><abbr>b</abbr>', 'ab'],
  ])('%s', (_, html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  test.each([
    ['<HEAD><'],
    ['<style>'],
    ['<a href="'],
    ['<a '],
    ['<a href="x">'],
    ['<br '],
    ['<'],
    ['<>'],
    ['<b> </b>'],
    [' \t'],
    ['{{ '],
    ['{{  x'],
    ['{{x }}'],
    ['<!-- '],
    ['<a b="{{'],
    ["<a b='"],
  ])('50,000 characters of %s take no longer than a request may', async (of) => {
    const body = of.repeat(50_000 / of.length);
    const read = () => {
      textOfHtml(body);
      placeholderFault(body, () => true);
      htmlFault(body);
    };
    expect(await processorTime(read, most)).toBeLessThanOrEqual(most);
  });
});

test.each([
  ['{{a}}', ['a']],
  ['{{  a b }}{{}}{{ \n }}', ['a b', '', '']],
  ['{{{a}}} {{a}', ['a']],
  ['{{ a\t}}', ['a']],
])('%j has the placeholders %j', (text, placeholders) => {
  expect([...text.matchAll(PLACEHOLDER)].map(([, of]) => of)).toEqual(placeholders);
});
