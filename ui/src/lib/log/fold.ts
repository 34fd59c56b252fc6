// Equal refusals in a row are one line, "× 412". Pages and batches come folded in themselves; this joins them at their seams.
import type { CallLine, LogEntry } from '../backend/backend';

type Call = CallLine & { kind: 'call' };

/** The same refusal once more? As the gate tells it, or pages would be cut differently from what they are joined to. */
export function sameRefusal(a: LogEntry, b: LogEntry): boolean {
  return (
    a.kind === 'call' &&
    b.kind === 'call' &&
    a.refused &&
    b.refused &&
    a.decision === b.decision &&
    a.session === b.session &&
    a.tool === b.tool &&
    a.rule === b.rule
  );
}

/** The two as one: everything of the newer, counted together, from the first of the older on. */
export function merged(older: LogEntry, newer: LogEntry): LogEntry {
  const [a, b] = [older as Call, newer as Call];
  // The gate may have folded further back than we asked: then it has counted the older ones already.
  const overlap = b.firstRev <= a.rev;
  return {
    ...b,
    times: overlap ? Math.max(a.times, b.times) : a.times + b.times,
    firstRev: Math.min(a.firstRev, b.firstRev),
  };
}
