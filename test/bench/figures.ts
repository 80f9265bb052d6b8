// Owns: the table of docs/performance.md that `npm run bench -- --write` writes: one row for each case, with its goal, its last
// figure, and the commit, machine, day and windows that the figure is from. Pure.
// Does not own: measuring (bench.ts), the prose around the table, which is written by hand.
// Implements: a figure is written by the bench alone, so that it names where it comes from.
import { type Case, met, number, type Result } from './bench.ts';
import { goalText } from './report.ts';

export const BEGIN = '<!-- figures: `npm run bench -- --write` writes the text from here; do not edit it -->';
export const END = '<!-- end of the figures -->';
const HEAD = ['Case', 'Goal', 'Ratio', 'Met', 'In that run', 'Commit', 'Machine', 'Day', 'Quiet windows'];
/** Cells of a figure: those behind the case and its goal. */
const CELLS = HEAD.length - 2;
const NONE: readonly string[] = ['not measured', ...Array.from({ length: CELLS - 1 }, () => '')];

/** Where figures come from. */
export interface Run {
  commit: string;
  machine: string;
  /** As `2026-11-26`. */
  day: string;
}
type Goals = Pick<Case, 'name' | 'goal'>;

const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

const figureOf = ({ goal }: Goals, result: Result, run: Run): string[] => [
  ...[number(result.ratio), met(result.ratio, goal) ? 'yes' : 'no', result.figures],
  ...[`\`${run.commit}\``, run.machine, run.day, `${result.quietWindows} of ${result.windows}`],
];

/** The figures of earlier runs by case, and the document before and after them. */
function parted(document: string) {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the document lacks the line ${BEGIN} or, after it, ${END}`);
  const rows = document
    .slice(begin, end)
    .split('\n')
    .flatMap((row) => (row.startsWith('| `') ? [cellsOf(row)] : []));
  const earlier = new Map(rows.map(([name = '', , ...figure]) => [name.slice(1, -1), figure]));
  return { before: document.slice(0, begin), earlier, after: document.slice(end) };
}

/** A case that did not run keeps its figure; whether that meets the goal is said of the goal of today. */
function kept({ goal }: Goals, figure: readonly string[] | undefined): readonly string[] {
  const ratio = Number(figure?.[0]?.replaceAll(',', ''));
  if (figure?.length !== CELLS || !Number.isFinite(ratio)) return NONE;
  return [figure[0] ?? '', met(ratio, goal) ? 'yes' : 'no', ...figure.slice(2)];
}

/** The document with the figures of a run in it. */
export function withFigures(
  document: string,
  cases: readonly Goals[],
  run: Run,
  results: ReadonlyMap<string, Result>,
): string {
  const { before, earlier, after } = parted(document);
  const rows = cases.map((each) => {
    const result = results.get(each.name);
    const figure = result ? figureOf(each, result, run) : kept(each, earlier.get(each.name));
    return line([`\`${each.name}\``, goalText(each.goal), ...figure]);
  });
  const table = [line(HEAD), `|${'---|'.repeat(HEAD.length)}`, ...rows];
  return `${before}${BEGIN}\n\n${table.join('\n')}\n\n${after}`;
}
