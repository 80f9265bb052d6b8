// The style sheet of all pages: one card, readable in light and dark, on a phone and a desktop. Colours come from the
// theme. It is in a layer below the realm's own CSS, whose rules therefore override it without a higher specificity.
import { darkTokens, lightTokens } from './page-tokens.ts';

export const pageStyle = `
@layer pages, realm;
@layer pages {
:root {
  color-scheme: light dark;
  ${lightTokens}
}
@media (prefers-color-scheme: dark) {
  :root {
    ${darkTokens}
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 1.5rem 1rem; display: grid; place-items: center;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
.card {
  width: 100%; max-width: 26rem; padding: 2.25rem 2.25rem 2rem; background: var(--card); border-radius: 14px;
  box-shadow: var(--shadow); overflow-wrap: anywhere;
}
.card.wide { max-width: 58rem; }
.account { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 1.5rem 2.75rem; align-items: start; }
.account > div > h2:first-child { margin-top: 0; }
.views ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .125rem; }
.views a { display: block; padding: .5rem .75rem; color: var(--text); text-decoration: none; font-weight: 500; border-radius: 9px; border-inline-start: 4px solid transparent; }
.views a:hover { background: var(--note-back); }
.views [aria-current] { background: var(--note-back); border-color: var(--mark); font-weight: 650; }
.views form { margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--hair); }
.brand { margin-bottom: 1.5rem; }
.brand .name { font-weight: 650; font-size: 1.0625rem; letter-spacing: -.01em; padding-inline-start: .75rem; border-inline-start: 4px solid var(--mark); }
.application { margin: 0 0 1rem; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; font-size: .9rem; }
.application img { max-width: 100%; max-height: 3rem; }
.asks { display: flex; gap: .875rem; align-items: center; margin: 0 0 1rem; font-size: 1.125rem; }
.picture, .monogram { flex: none; width: 3rem; height: 3rem; font-weight: 650; font-size: 1.25rem; border-radius: 9px; }
.picture { position: relative; object-fit: contain; overflow: hidden; }
.picture::after { content: attr(alt); position: absolute; inset: 0; }
.monogram, .picture::after { display: grid; place-items: center; color: var(--on-primary); background: var(--primary); }
.app :is(.picture, .monogram) { width: 2.25rem; height: 2.25rem; font-size: 1rem; border-radius: 7px; }
.brand .logo { position: relative; display: block; max-width: 100%; min-height: 1.625rem; max-height: 3.5rem; font-weight: 650; font-size: 1.0625rem; }
.brand .logo::after { content: attr(alt); position: absolute; inset: 0; background: var(--card); }
h1 { margin: 0 0 1.25rem; font-size: 1.625rem; line-height: 1.2; letter-spacing: -.02em; text-wrap: pretty; }
h2.group { margin: 1.25rem 0 .375rem; font-size: 1rem; }
.rows + .application { margin-top: 1rem; }
h2 { margin: 2rem 0 .75rem; font-size: 1.125rem; line-height: 1.3; }
p { margin: 0 0 1rem; }
.lead { color: var(--soft); margin: 0 0 1.5rem; white-space: pre-line; }
.lead:last-child { margin-bottom: 0; }
h1 + .lead, h1 + form .lead { margin-top: -.875rem; }
.lead + .lead { margin-top: -.75rem; }
form + .lead { margin-top: 1.75rem; padding-top: 1.5rem; border-top: 1px solid var(--hair); }
a { color: var(--link); text-underline-offset: .2em; }
form { margin: 0; }
.field { margin-bottom: 1.125rem; }
label { display: block; margin-bottom: .3125rem; font-weight: 560; font-size: .9375rem; }
.hint { margin: .4375rem 0 0; color: var(--soft); font-size: .875rem; }
.hint:empty { margin: 0; }
.hint + .secret { margin-top: .5rem; }
.hint:not(:empty) + button { margin-top: 1.125rem; }
form + .hint { margin-top: 1rem; }
.hint + p { margin: .5rem 0 1.125rem; }
:is(p, .hint, ul.rows) a:not(.button) { padding: .25rem 0; }
input:is([type=text], [type=password], [type=email], [type=tel], [type=date], [type=url]), select, textarea {
  width: 100%; min-height: 2.875rem; padding: .5rem .8125rem; font: inherit; color: var(--text); background: var(--field);
  border: 1px solid var(--line); border-radius: 9px;
}
:is(input, select, textarea)[aria-invalid=true] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.revealed { position: relative; }
.revealed input { padding-inline-end: 3rem; }
.reveal.reveal { position: absolute; inset-block: 1px; inset-inline-end: 1px; display: grid; place-items: center; width: 2.75rem; min-height: 0; padding: 0; color: var(--soft); background: none; border: 0; }
.reveal.reveal[hidden] { display: none; }
.reveal:not([aria-pressed=true]) .slash { display: none; }
input.code { font-size: 1.5rem; letter-spacing: .3em; text-align: center; font-variant-numeric: tabular-nums; }
textarea { resize: vertical; line-height: 1.5; }
fieldset { margin-inline: 0; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: .4375rem; font-weight: 560; font-size: .9375rem; }
fieldset .check { margin-bottom: .5rem; }
fieldset + button { margin-top: .5rem; }
.choices { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .75rem 0 0; }
.more > a { padding: .25rem 0; font-weight: 500; }
.check { display: flex; gap: .625rem; align-items: start; margin-bottom: 1.25rem; }
.check label { margin: 0; font-weight: 400; }
label.check { font-weight: 400; }
.check .hint { display: block; margin: 0; }
.check input { width: 1.25rem; height: 1.25rem; margin: .125rem 0 0; accent-color: var(--primary); flex: none; }
button, .button {
  display: inline-block; min-height: 2.875rem; padding: .5625rem 1.25rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; color: var(--on-primary); background: var(--primary); border: 1px solid var(--mark); border-radius: 9px;
  cursor: pointer;
}
button.quiet { white-space: nowrap; }
button:hover, .button:hover { filter: brightness(.93); }
form > button, .full { width: 100%; }
button.quiet, .button.quiet { color: var(--text); background: transparent; border-color: var(--line); min-height: 2.5rem; padding: .375rem .9375rem; }
button.danger { color: var(--card); background: var(--bad); border-color: var(--bad); }
button.quiet.danger { color: var(--bad); background: transparent; border-color: var(--line); }
button.link { min-height: 0; padding: .25rem 0; width: auto; background: none; border: 0; color: var(--link); font-weight: 500; text-decoration: underline; text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.error { margin: 0 0 1.25rem; padding: .75rem .9375rem; color: var(--bad); background: var(--bad-back); border-radius: 9px; border-inline-start: 4px solid var(--bad); }
:is(.error, .note) p:last-child { margin: 0; }
:is(.field, fieldset) > .error { margin: .4375rem 0 0; padding: 0; font-size: .9375rem; background: none; border: 0; }
.note { margin: 0 0 1.25rem; padding: .75rem .9375rem; background: var(--note-back); border-radius: 9px; }
.more { margin: 1.25rem 0 0; padding-top: 1rem; border-top: 1px solid var(--hair); display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .9375rem; }
.ways a { display: flex; gap: .625rem; align-items: center; justify-content: center; }
.ways a .monogram { width: 1.375rem; height: 1.375rem; font-size: .8125rem; border-radius: 6px; }
.ways { display: grid; gap: .625rem; margin-top: 1.25rem; }
.qr { width: 12.5rem; max-width: 100%; margin: .875rem auto 1rem; padding: .75rem; background: #fff; border: 1px solid var(--hair); border-radius: 10px; }
.qr svg { display: block; width: 100%; height: auto; }
.codes { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12.75rem), 1fr)); gap: .375rem 1rem; margin: 0 0 1rem; padding: .625rem .8125rem; list-style: none; background: var(--note-back); border-radius: 9px; }
.codes + p { display: flex; flex-wrap: wrap; gap: .5rem; }
.codes code { font: 1rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: nowrap; }
.number { margin: .5rem 0 1rem; font-size: 3rem; line-height: 1.2; text-align: center; letter-spacing: .1em; font-variant-numeric: tabular-nums; }
.secret { display: block; padding: .625rem .8125rem; background: var(--note-back); border-radius: 9px; font: 1rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; word-spacing: .25em; user-select: all; text-align: center; }
.command { text-align: start; word-spacing: 0; }
ol.steps { margin: 0 0 1.25rem; padding-inline-start: 1.25rem; }
ol.steps > li { margin-bottom: .75rem; }
dl { margin: 0; display: grid; grid-template-columns: max-content 1fr; gap: .375rem 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; }
dl + .note { margin-top: 1.25rem; }
ul.rows { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--hair); }
ul.rows > li { display: flex; gap: 1rem; align-items: center; justify-content: space-between; padding: .875rem 0; border-bottom: 1px solid var(--hair); }
ul.rows > li > div { flex: 1; }
ul.rows > li > form { flex: none; }
ul.rows form > button + button { margin-top: .5rem; }
ul.rows > li.app { justify-content: flex-start; }
ul.soft { margin: .125rem 0; padding-inline-start: 1.125rem; }
ul.rows strong { color: var(--text); font-weight: 600; }
.soft { color: var(--soft); font-size: .9375rem; }
.badge { display: inline-block; margin-inline-start: .5rem; padding: .0625rem .5rem; font-size: .8125rem; font-weight: 600; border-radius: 99px; background: var(--note-back); border: 1px solid var(--hair); }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
:where(.card:not(.wide) > .actions, .card:not(.wide) > form > .actions) > * { flex: 1 1 auto; }
.actions .quiet { min-height: 2.875rem; padding: .5625rem 1.25rem; }
ul.rows .actions { margin-top: .75rem; }
ul.rows details { margin-top: .25rem; }
ul.rows details form > button { width: auto; }
time { white-space: nowrap; }
details { margin-top: 1.75rem; color: var(--soft); font-size: .9375rem; }
summary { padding: .5rem 0; cursor: pointer; }
details p { margin: .25rem 0 0; }
.lost { margin-top: .75rem; }
.menu > summary { list-style: none; min-height: 2.5rem; padding: .375rem .9375rem; }
.menu > summary::-webkit-details-marker { display: none; }
.menu > summary::after { content: " ▾" / ""; }
.menu > .ways { max-width: 24rem; margin-top: .75rem; }
.menu button { width: 100%; text-align: start; }
.language { margin-top: 1.5rem; padding-top: .5rem; border-top: 1px solid var(--hair); }
.language form { display: flex; flex-wrap: wrap; gap: .25rem 1.125rem; }
.language [aria-current] { color: var(--text); text-decoration: none; font-weight: 650; }
.rules { margin: 0 0 .25rem; padding-inline-start: 1.125rem; }
.rules .met { list-style-type: "✓  "; }
.strength { display: flex; gap: .5rem; align-items: center; margin: .375rem 0 0; }
.strength[hidden] { display: none; }
.strength meter { flex: 1; }
strong, code, span.soft { unicode-bidi: plaintext; }
dd { unicode-bidi: plaintext; }
:dir(rtl) dd { text-align: right; }
:dir(rtl) :is(input:is(.code, [type=email], [type=tel], [type=url], [autocomplete=tel]), .secret, .codes) { direction: ltr; }
:dir(rtl) input:is([type=email], [type=tel], [type=url], [autocomplete=tel]) { text-align: right; }
:lang(ar) :is(h1, .brand .name, .number) { letter-spacing: 0; }
:lang(ar) :is(h1, h2) { line-height: 1.4; }
.hidden.hidden { position: absolute; width: 1px; height: 1px; min-height: 0; padding: 0; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (hover: none) and (pointer: coarse) {
  .scan { display: flex; flex-direction: column-reverse; }
  .scan a { display: block; margin-top: .625rem; padding: .625rem 1.25rem; font-weight: 600; text-align: center; text-decoration: none; border: 1px solid var(--line); border-radius: 9px; }
}
@media (max-width: 48rem) {
  .account { grid-template-columns: minmax(0, 1fr); }
  .views ul { display: flex; flex-wrap: wrap; gap: .375rem; }
  .views a { padding: .375rem .625rem; border: 1px solid var(--hair); }
  .views form { margin-top: .75rem; padding-top: 0; border: 0; }
}
@media (max-width: 30rem) {
  body { padding: 0; place-items: start stretch; background: var(--card); }
  .card { max-width: none; min-height: 100vh; min-height: 100dvh; border-radius: 0; box-shadow: none; padding: 1.75rem 1.25rem; border-top: 5px solid var(--mark); }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .625rem; }
  ul.rows > li { align-items: flex-start; flex-wrap: wrap; gap: .625rem 1rem; }
  ul.rows > li > div { flex: 1 1 8rem; }
  ul.rows > li > form { max-width: 100%; }
  button.quiet { white-space: normal; }
  .actions > *, .actions button { flex: 1 1 100%; min-height: 3rem; }
}
@media (forced-colors: active) { button, .button, .card { border: 1px solid; } }
@media print { body { background: none; } .card { box-shadow: none; } }
}
`;
