// The colours of all that the server shows in a browser, as custom properties: the sign-in pages (page-style.ts) and the
// console, whose build writes its own sheet of them. Each block is for one scheme.
export const lightTokens = `--primary: #2f5bd7; --mark: #2f5bd7; --on-primary: #fff; --link: #2f5bd7;
  --page: #eef1f6; --card: #fff; --text: #171b22; --soft: #566072; --line: #8a94a6; --hair: #dfe4ec;
  --bad: #b3261e; --bad-back: #fdeceb; --note-back: #f3f6fb; --shadow: 0 1px 2px #1b253714, 0 12px 32px #1b25371f;
  --field: #fff;`;
export const darkTokens = `--page: #101319; --card: #1b1f27; --text: #eceff4; --soft: #a9b2c1; --line: #7a8598; --hair: #323947;
    --bad: #ffb4ab; --bad-back: #43201d; --note-back: #242a35; --shadow: 0 1px 2px #0006, 0 12px 32px #0008;
    --field: #12151b; --link: #6384e1;`;
