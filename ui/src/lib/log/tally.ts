// Totals and bars go on by themselves while calls come in: asking again for every call would be a full count each time.
import type { Bar, CallLine, LogCount, LogEntry } from '../backend/backend';
import { reach } from './fold';

/** A call, or a line for several, with how many of them nobody was told of before. */
export interface News {
  call: CallLine;
  times: number;
}

/** Lines that may still grow, with some to spare. */
const remembered = 4 * reach;

/** What is new in lines that come in order: a line for several calls stands for known ones, too. */
export class NewsCounter {
  /** Everything up to this `rev` was told. */
  rev: number;
  /** How many calls the last lines stood for, by their first. */
  #lines = new Map<number, number>();

  constructor(rev: number, last: readonly LogEntry[]) {
    this.rev = rev;
    for (const entry of last.slice(-remembered)) this.#remember(entry);
  }

  /** How many of this line are new; none if it is known and only changed. */
  times(entry: LogEntry): number {
    if (entry.rev <= this.rev) return 0;
    const before = this.rev;
    this.rev = entry.rev;
    if (entry.kind !== 'call') return 1;
    const known = entry.firstRev > before ? 0 : (this.#lines.get(entry.firstRev) ?? entry.times - 1);
    this.#remember(entry);
    return Math.max(1, entry.times - known);
  }

  #remember(entry: LogEntry): void {
    if (entry.kind !== 'call' || entry.foldKey === null) return;
    // The one that grew last is the last to be forgotten.
    this.#lines.delete(entry.firstRev);
    this.#lines.set(entry.firstRev, entry.times);
    if (this.#lines.size > remembered) this.#lines.delete(this.#lines.keys().next().value!);
  }
}

export function counted(known: LogCount, news: News[]): LogCount {
  const bars = known.bars.slice(-400);
  const count = { ...known, bars };
  for (const { call, times } of news) {
    count.newestRev = Math.max(count.newestRev ?? 0, call.rev);
    count.oldestRev ??= call.firstRev;
    count.calls += times;
    if (call.refused) count.refused += times;
    const fromMs = Math.floor(call.atMs / count.barMs) * count.barMs;
    const last = bars.at(-1);
    const bar: Bar = last?.fromMs === fromMs ? { ...last } : { fromMs, passed: 0, refused: 0, capped: 0 };
    if (!call.refused) bar.passed += times;
    else if (call.decision === 'capped') bar.capped += times;
    else bar.refused += times;
    if (last?.fromMs === fromMs) bars[bars.length - 1] = bar;
    else if (!last || last.fromMs < fromMs) bars.push(bar);
  }
  return count;
}
