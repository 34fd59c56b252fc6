// What makes a row the same row.
import type { CallLine, LogEntry } from '../backend/backend';

/** What the list draws: an entry, or one of the calls inside of an entry that stands for several. */
export type Row = LogEntry | FoldedCall;
export type CallEntry = CallLine & { kind: 'call' };
export type FoldedCall = CallEntry & { part: true };

export const isPart = (row: Row): row is FoldedCall => 'part' in row;

/** Of one entry: known once, never shown twice. */
export const entryKey = (entry: LogEntry): string => (entry.kind === 'call' ? entry.id : `${entry.kind}:${entry.id}`);

/** The `rev` of the oldest that a row stands for. */
export const firstOf = (entry: LogEntry): number => (entry.kind === 'call' ? entry.firstRev : entry.rev);

/** As they came to be: what has the same `rev` stays as it came, the later one is the newer state. */
export const inOrder = (entries: readonly LogEntry[]): LogEntry[] => [...entries].sort((a, b) => a.rev - b.rev);

/** Does this line stand for that call? Lines of two sessions may lie across each other. */
export const holds = (line: CallLine, call: Pick<CallLine, 'rev' | 'session'>): boolean =>
  line.session === call.session && line.firstRev <= call.rev && call.rev <= line.rev;

/** Of a row while it is drawn: a folded one stays the same while it grows. */
export const rowKey = (entry: Row): string =>
  isPart(entry) ? `part:${entry.rev}` : entry.kind === 'call' ? `call:${entry.firstRev}` : `${entry.kind}:${entry.id}`;

/** A chosen row. A folded row holds the calls of its session from its first to its newest, so that the choice survives folding. */
export type Chosen =
  | { kind: 'call'; rev: number; session: string }
  | { kind: 'part'; rev: number }
  | { kind: 'change' | 'event'; id: number };

export const chosenOf = (entry: Row): Chosen =>
  entry.kind !== 'call'
    ? { kind: entry.kind, id: entry.id }
    : isPart(entry)
      ? { kind: 'part', rev: entry.rev }
      : { kind: 'call', rev: entry.rev, session: entry.session };

export function isChosen(entry: Row, chosen: Chosen | null): boolean {
  if (isPart(entry) || chosen?.kind === 'part') {
    return isPart(entry) && chosen?.kind === 'part' && entry.rev === chosen.rev;
  }
  if (chosen === null || chosen.kind !== entry.kind) return false;
  if (chosen.kind === 'call') {
    return entry.kind === 'call' && holds(entry, chosen);
  }
  return entry.kind !== 'call' && entry.id === chosen.id;
}
