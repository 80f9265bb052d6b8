import { revealScript } from './reveal.ts';

// The script of pages that ask for a new password: it ticks the fulfilled rules, apart from the one that only the
// server can check, and shows how strong the password is. Without it the rules are shown too, and the server checks
// them. The script sends the password nowhere.
export const passwordScript = `${revealScript}
(() => {
const field = document.getElementById('password');
const list = document.querySelector('[data-rules]');
const patterns = JSON.parse(list.dataset.rules);
const rules = [...list.children].flatMap((item, at) => (patterns[at] === null ? [] : [[item, new RegExp(patterns[at], 'su')]]));
const meter = document.querySelector('[data-strength]');
const classes = [[/\\p{Ll}/u, 26], [/\\p{Lu}/u, 26], [/\\p{Nd}/u, 10], [/[^\\p{L}\\p{N}]/u, 33], [/[^\\x00-\\x7f]/u, 100]];
const bits = (text) => {
  const signs = [...text];
  const pool = classes.reduce((sum, [pattern, size]) => sum + (pattern.test(text) ? size : 0), 0);
  const fresh = signs.filter((sign, at) => {
    const step = (back) => sign.codePointAt(0) - (signs[at - back] ?? '').codePointAt(0);
    return at === 0 || (Math.abs(step(1)) > 1 && signs.indexOf(sign) === at);
  });
  return (fresh.length + (signs.length - fresh.length) / 4) * Math.log2(pool || 1);
};
const show = () => {
  for (const [item, pattern] of rules) item.classList.toggle('met', pattern.test(field.value));
  const strength = bits(field.value);
  const level = field.value === '' ? 0 : strength < 45 ? 1 : strength < 70 ? 2 : 3;
  meter.hidden = level === 0;
  meter.querySelector('meter').value = level;
  const words = meter.dataset.strength.split('|')[level - 1] ?? '';
  const said = meter.querySelector('[role=status]');
  if (said.textContent !== words) said.textContent = words;
};
field.addEventListener('input', show);
show();
})();`;
