// What is inside of lines that stand for several calls: read when somebody opens one, shown below it until it is closed.
import type { Backend, LogEntry, CallFilter } from '../backend';
import { holds, type CallEntry, type FoldedCall, type Row } from './key';

/** Calls of one line that are shown: the newest. */
export const mostParts = 500;

interface Unfolded {
  /** One that the line stands for, however it grows. */
  rev: number;
  session: string;
  parts: FoldedCall[];
}

export class Unfolds {
  #open: Unfolded[] = [];

  get none(): boolean {
    return this.#open.length === 0;
  }

  clear(): void {
    this.#open = [];
  }

  isOpen(line: CallEntry): boolean {
    return this.#of(line) !== undefined;
  }

  close(line: CallEntry): void {
    this.#open = this.#open.filter((one) => one !== this.#of(line));
  }

  /** Reads what a line stands for; a page may be short and still have more before it. */
  async read(backend: Backend, filter: CallFilter, line: CallEntry): Promise<void> {
    const inside: CallFilter = { ...filter, session: line.session, only: 'calls', unfolded: true };
    const parts: FoldedCall[] = [];
    let before: number | null = line.rev + 1;
    while (before !== null && before > line.firstRev && parts.length < mostParts) {
      const { entries, older } = await backend.logPage(inside, { kind: 'before', rev: before }, mostParts);
      const own = entries.filter(
        (one) => one.kind === 'call' && one.rev >= line.firstRev && one.foldKey === line.foldKey,
      );
      parts.unshift(...own.map((one) => ({ ...(one as CallEntry), part: true as const })));
      if (older !== null && older >= before) break;
      before = older;
    }
    this.close(line);
    this.#open.push({ rev: line.rev, session: line.session, parts: parts.slice(-mostParts) });
  }

  /** The rows with those that are open below theirs. */
  spread(rows: LogEntry[]): Row[] {
    return rows.flatMap((row): Row[] => (row.kind === 'call' ? [row, ...(this.#of(row)?.parts ?? [])] : [row]));
  }

  #of(line: CallEntry): Unfolded | undefined {
    return this.#open.find((one) => holds(line, one));
  }
}
