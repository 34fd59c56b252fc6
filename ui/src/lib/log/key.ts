// What makes a row the same row.
import type { CallLine, LogEntry } from '../backend/backend';

/** What the list draws: an entry, or one of the calls inside of an entry that stands for several. */
export type Row = LogEntry | Part;
export type Part = CallLine & { kind: 'call'; part: true };

export const isPart = (row: Row): row is Part => 'part' in row;

/** Of one entry: known once, never shown twice. */
export const entryKey = (entry: LogEntry): string => (entry.kind === 'call' ? entry.id : `${entry.kind}:${entry.id}`);

/** The `rev` of the oldest that a row stands for. */
export const firstOf = (entry: LogEntry): number => (entry.kind === 'call' ? entry.firstRev : entry.rev);

/** What has the same `rev` stays as it came: the later one is the newer state. */
export const inOrder = (entries: readonly LogEntry[]): LogEntry[] => [...entries].sort((a, b) => a.rev - b.rev);

/** Of a row while it is drawn: a folded one stays the same while it grows. */
export const rowKey = (entry: Row): string =>
  isPart(entry) ? `part:${entry.rev}` : entry.kind === 'call' ? `call:${entry.firstRev}` : `${entry.kind}:${entry.id}`;

/** A chosen row. A folded row holds every `rev` from its first to its newest, so that the choice survives folding. */
export type Chosen =
  { kind: 'call'; rev: number } | { kind: 'part'; rev: number } | { kind: 'change' | 'event'; id: number };

export const chosenOf = (entry: Row): Chosen =>
  entry.kind === 'call'
    ? { kind: isPart(entry) ? 'part' : 'call', rev: entry.rev }
    : { kind: entry.kind, id: entry.id };

export function isChosen(entry: Row, chosen: Chosen | null): boolean {
  if (isPart(entry) || chosen?.kind === 'part') {
    return isPart(entry) && chosen?.kind === 'part' && entry.rev === chosen.rev;
  }
  if (chosen === null || chosen.kind !== entry.kind) return false;
  if (chosen.kind === 'call') {
    return entry.kind === 'call' && entry.firstRev <= chosen.rev && chosen.rev <= entry.rev;
  }
  return entry.kind !== 'call' && entry.id === chosen.id;
}
