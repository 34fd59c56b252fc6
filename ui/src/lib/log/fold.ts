// Refusals of one session by one rule are one line, "× 412", also while other sessions call in between. What is one line is the
// gate's word (`foldKey`): pages and batches come folded in themselves, and this joins them at their seams by the same rule.
import type { LogEntry } from '../backend/backend';
import type { CallEntry } from './key';

/** Names that a line of several calls holds at most, as the gate has it. */
export const mostTools = 20;
/** Lines of others that may stand between a line and the next call of it, as the gate has it. */
export const reach = 20;

/** The same refusal once more? */
export function sameRefusal(a: LogEntry, b: LogEntry): boolean {
  return a.kind === 'call' && b.kind === 'call' && a.foldKey !== null && a.foldKey === b.foldKey;
}

/** The place of the line that an entry repeats, among the lines before it (the nearest last); -1 if it repeats none. Whatever
 *  else its own session did since, a change of rules or an event ends a line. */
export function repeated(lines: readonly LogEntry[], entry: LogEntry): number {
  if (entry.kind !== 'call' || entry.foldKey === null) return -1;
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - 1 - reach); at -= 1) {
    const line = lines[at]!;
    if (line.kind !== 'call' || line.session === entry.session) return sameRefusal(line, entry) ? at : -1;
  }
  return -1;
}

/** The two as one: everything of the newer, counted together, from the first of the older on. */
export function merged(one: LogEntry, other: LogEntry): LogEntry {
  const [a, b] =
    (one as CallEntry).rev <= (other as CallEntry).rev
      ? [one as CallEntry, other as CallEntry]
      : [other as CallEntry, one as CallEntry];
  // The gate may have folded further back than we asked: then it has counted the older ones already.
  const overlap = b.firstRev <= a.rev;
  const first = a.firstRev <= b.firstRev ? a : b;
  const tools = [...new Set([...called(a), ...called(b)])].slice(0, mostTools);
  return {
    ...b,
    times: overlap ? Math.max(a.times, b.times) : a.times + b.times,
    firstRev: first.firstRev,
    firstMs: first.firstMs,
    tools: tools.length > 1 ? tools : [],
  };
}

const called = (line: CallEntry): string[] =>
  line.tools.length > 0 ? line.tools : [line.tool ?? line.method].filter((name) => name !== null);
