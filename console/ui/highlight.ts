// The colours of YAML, JSON and CSS in editors, by the console's own: custom properties follow light and dark into the shadow root.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

export const highlight = syntaxHighlighting(
  HighlightStyle.define([
    {
      tag: [tags.propertyName, tags.definition(tags.propertyName), tags.attributeName, tags.tagName, tags.className],
      color: 'var(--link)',
    },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit, tags.color], color: 'var(--warn)' },
    { tag: [tags.comment, tags.meta], color: 'var(--soft)' },
    { tag: tags.invalid, color: 'var(--bad)' },
  ]),
);
