// Reads metrics in Prometheus' text form: each series by its name and labels, as they stand there.

export type Series = ReadonlyMap<string, number>;

export async function seriesAt(url: string): Promise<Series> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return seriesOf(await answer.text());
}

export function seriesOf(text: string): Series {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** Over all series whose name and labels match. */
export function sumOf(series: Series, pattern: RegExp): number {
  let total = 0;
  for (const [name, value] of series) if (pattern.test(name)) total += value;
  return total;
}
