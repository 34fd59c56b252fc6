// Refusals of one session by one rule in a row are one line, "× 412". What is one line is the gate's word (`foldKey`): pages and
// batches come folded in themselves, and this joins them at their seams.
import type { CallLine, LogEntry } from '../backend/backend';

type Call = CallLine & { kind: 'call' };

/** Names that a line of several calls holds at most, as the gate has it. */
export const mostTools = 20;

/** The same refusal once more? */
export function sameRefusal(a: LogEntry, b: LogEntry): boolean {
  return a.kind === 'call' && b.kind === 'call' && a.foldKey !== null && a.foldKey === b.foldKey;
}

/** The two as one: everything of the newer, counted together, from the first of the older on. */
export function merged(older: LogEntry, newer: LogEntry): LogEntry {
  const [a, b] = [older as Call, newer as Call];
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

const called = (line: Call): string[] =>
  line.tools.length > 0 ? line.tools : [line.tool ?? line.method].filter((name) => name !== null);
