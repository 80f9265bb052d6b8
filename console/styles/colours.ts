// The console's own colours, in addition to those of all pages (server/http/page-tokens.ts). The build writes the dark ones twice: for
// a system in dark colours, and for a reader who chose them. `light-dark()` would need no second copy, but browsers of the last
// three years don't all have it.
export const lightColours = `--side: #f7f8fb;
  --hover: #eef1f6;
  --chosen: #e6ecfb;
  --on-chosen: #1f45b3;
  --edge: #e3e7ee;
  --field-line: #8a94a6;
  --good: #1a6b3c;
  --good-back: #e4f5ea;
  --warn: #7a4a00;
  --warn-back: #fdf1dc;
  --add-back: #e4f5ea;
  --gone-back: #fdeceb;
  --veil: #1018283d;
  --lift: 0 1px 2px #1018280d;
  --float: 0 4px 8px -2px #1018281a, 0 12px 32px -4px #1018282e;`;
export const darkColours = `--side: #14171d;
  --hover: #232933;
  --chosen: #24314f;
  --on-chosen: #b9ccff;
  --edge: #2a303b;
  --field-line: #6d7788;
  --good: #7fd6a0;
  --good-back: #153022;
  --warn: #f2c374;
  --warn-back: #3a2b11;
  --add-back: #153022;
  --gone-back: #43201d;
  --veil: #0009;
  --lift: none;
  --float: 0 4px 8px -2px #0006, 0 12px 32px -4px #000a;`;
