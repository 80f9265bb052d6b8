// Owns: the tables of docs/performance.md that `npm run bench -- --write` and `npm run bench:scale -- --write` write: one row for
// each case, with its goal, its last figure, and the commit, machine, day and windows that the figure is from. Pure.
// Does not own: measuring (bench.ts), the prose around the table, which is written by hand.
// Implements: a figure is written by the bench alone, so that it names where it comes from.
import { type Case, met, number, type Result } from './bench.ts';
import { goalText } from './report.ts';

export const BEGIN = '<!-- figures: `npm run bench -- --write` writes the text from here; do not edit it -->';
export const END = '<!-- end of the figures -->';
const HEAD = ['Case', 'Goal', 'Ratio', 'Met', 'In that run', 'Commit', 'Machine', 'Day'];

/** A table of the document: the lines around it, and whether its figures are medians of quiet windows. */
export interface Marks {
  begin: string;
  end: string;
  hasWindows: boolean;
}
const WINDOWED: Marks = { begin: BEGIN, end: END, hasWindows: true };
/** The table of `npm run bench:scale`. */
export const SCALE: Marks = {
  begin: '<!-- scale: `npm run bench:scale -- --write` writes the text from here; do not edit it -->',
  end: '<!-- end of the scale -->',
  hasWindows: false,
};
const headOf = ({ hasWindows }: Marks): string[] => (hasWindows ? [...HEAD, 'Quiet windows'] : HEAD);
/** Cells of a figure: those behind the case and its goal. */
const cellsIn = (marks: Marks): number => headOf(marks).length - 2;

/** Where figures come from. */
export interface Run {
  commit: string;
  machine: string;
  /** As `2026-11-26`. */
  day: string;
}
type Goals = Pick<Case, 'name' | 'goal'>;
/** A case's result; the windows where the table has them. */
export type Figure = Pick<Result, 'ratio' | 'figures'> & Partial<Result>;

const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

const figureOf = ({ goal }: Goals, result: Figure, run: Run, { hasWindows }: Marks): string[] => [
  ...[number(result.ratio), met(result.ratio, goal) ? 'yes' : 'no', result.figures],
  ...[`\`${run.commit}\``, run.machine, run.day],
  ...(hasWindows ? [`${result.quietWindows} of ${result.windows}`] : []),
];

/** The figures of earlier runs by case, and the document before and after them. */
function parted(document: string, marks: Marks) {
  const [begin, end] = [document.indexOf(marks.begin), document.indexOf(marks.end)];
  if (begin < 0 || end < begin)
    throw new Error(`the document lacks the line ${marks.begin} or, after it, ${marks.end}`);
  const rows = document
    .slice(begin, end)
    .split('\n')
    .flatMap((row) => (row.startsWith('| `') ? [cellsOf(row)] : []));
  const earlier = new Map(rows.map(([name = '', , ...figure]) => [name.slice(1, -1), figure]));
  return { before: document.slice(0, begin), earlier, after: document.slice(end) };
}

/** A case that did not run keeps its figure; whether that meets the goal is said of the goal of today. */
function kept({ goal }: Goals, figure: readonly string[] | undefined, cells: number): readonly string[] {
  const ratio = Number(figure?.[0]?.replaceAll(',', ''));
  if (figure?.length !== cells || !Number.isFinite(ratio))
    return ['not measured', ...Array.from({ length: cells - 1 }, () => '')];
  return [figure[0] ?? '', met(ratio, goal) ? 'yes' : 'no', ...figure.slice(2)];
}

/** The document with the figures of a run in it. */
export function withFigures(
  document: string,
  cases: readonly Goals[],
  run: Run,
  results: ReadonlyMap<string, Figure>,
  marks: Marks = WINDOWED,
): string {
  const { before, earlier, after } = parted(document, marks);
  const head = headOf(marks);
  const rows = cases.map((each) => {
    const result = results.get(each.name);
    const figure = result ? figureOf(each, result, run, marks) : kept(each, earlier.get(each.name), cellsIn(marks));
    return line([`\`${each.name}\``, goalText(each.goal), ...figure]);
  });
  const table = [line(head), `|${'---|'.repeat(head.length)}`, ...rows];
  return `${before}${marks.begin}\n\n${table.join('\n')}\n\n${after}`;
}
