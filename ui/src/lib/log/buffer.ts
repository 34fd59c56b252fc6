// The loaded part of the log: one gapless stretch, folded at its seams, with a cursor at each end. A line for several calls
// stands where the first of them stands, so that a loop that goes on moves nothing. It never shows an entry twice and never
// leaves one out between its ends; what it drops, it drops at an end and can ask for again.
import type { LogEntry, LogPage } from '../backend/backend';
import { merged, reach, repeated, sameRefusal } from './fold';
import { entryKey, firstOf, inOrder, type CallEntry } from './key';

export class LogBuffer {
  /** In the order in which they began; calls, changes and events share it. */
  rows: LogEntry[] = [];
  /** Everything from this `rev` on is here: ask before it. None if nothing is older. */
  older: number | null = null;
  /** Everything up to this `rev` is here: ask after it. None if it ends with the newest. */
  newer: number | null = null;
  /** Keys to positions, counted so that what happens at the front does not move those behind it. */
  #places = new Map<string, number>();
  #first = 0;

  get length(): number {
    return this.rows.length;
  }

  /** Does it end with the newest, so that live entries go on from here? */
  get atTail(): boolean {
    return this.newer === null;
  }

  reset(page: LogPage): void {
    this.rows = [];
    this.#places.clear();
    this.#first = 0;
    this.older = page.older;
    this.newer = page.newer;
    for (const entry of page.entries) this.#put(entry);
  }

  /** Older ones in front; answers how many rows were added there. */
  prepend(page: LogPage): number {
    const before = this.rows.length;
    const front = new LogBuffer();
    for (const entry of page.entries) front.#put(entry);
    const end = front.rows.reduce((rev, row) => Math.max(rev, row.rev), -Infinity);
    // Those that may be one with what came, or lie across it.
    let seam = 0;
    while (seam < before && (seam <= reach || firstOf(this.rows[seam]!) <= end)) seam += 1;
    for (const row of this.rows.slice(0, seam)) front.#put(row);
    this.rows = front.rows.concat(this.rows.slice(seam));
    this.#first -= this.rows.length - before;
    this.#reindex();
    this.older = page.older === null || this.older === null ? page.older : Math.min(this.older, page.older);
    return this.rows.length - before;
  }

  /** Newer ones behind. */
  append(page: LogPage): void {
    for (const entry of page.entries) this.#put(entry);
    this.newer = page.newer;
  }

  /** What came or changed. What lies beyond the ends is not taken; the answer says how many lines came after the end. */
  live(entries: LogEntry[]): number {
    let left = 0;
    // Those that changed may come before older new ones; a seam is only where nothing lies between.
    for (const entry of inOrder(entries)) {
      if (this.newer !== null && entry.rev > this.newer) left += 1;
      else if (this.older === null || entry.rev >= this.older) this.#put(entry);
    }
    return left;
  }

  /** Drops the oldest rows beyond `keep`. Answers how many were dropped. */
  trimFront(keep: number): number {
    let cut = this.rows.length - keep;
    // One asks before a `rev`, so what shares one stays together.
    while (cut > 0 && cut < this.rows.length && firstOf(this.rows[cut]!) === firstOf(this.rows[cut - 1]!)) cut += 1;
    const first = this.rows[cut];
    if (cut <= 0 || !first) return 0;
    const dropped = this.rows.slice(0, cut);
    for (const row of dropped) this.#places.delete(entryKey(row));
    this.rows = this.rows.slice(cut);
    this.#first += cut;
    // One that is gone may have had calls after the first that is left.
    this.older = dropped.reduce((rev, row) => Math.max(rev, row.rev + 1), firstOf(first));
    return cut;
  }

  /** Drops the newest rows beyond `keep`; from then on it does not end with the newest. */
  trimEnd(keep: number): number {
    let end = keep;
    while (end > 0 && end < this.rows.length && firstOf(this.rows[end]!) === firstOf(this.rows[end - 1]!)) end -= 1;
    const gone = this.rows[end];
    if (end === 0 || !gone) return 0;
    for (const row of this.rows.slice(end)) this.#places.delete(entryKey(row));
    const dropped = this.rows.length - end;
    this.rows = this.rows.slice(0, end);
    // One that is left may have calls after the first that is gone.
    this.newer = firstOf(gone) - 1;
    return dropped;
  }

  /** Nothing may be added at the end any more: what comes after this `rev` is asked for later. */
  leaveTail(rev: number): void {
    const last = this.rows.slice(-reach - 1);
    this.newer = last.reduce((newest, row) => Math.max(newest, row.rev), rev);
  }

  /** How many keys it knows: one for each row. */
  get known(): number {
    return this.#places.size;
  }

  indexOf(key: string): number {
    const place = this.#places.get(key);
    return place === undefined ? -1 : place - this.#first;
  }

  /** To its place. A line for several calls takes the place of all that it stands for. */
  #put(entry: LogEntry): void {
    const at = this.indexOf(entryKey(entry));
    if (entry.kind !== 'call' || entry.foldKey === null) {
      if (at >= 0) this.rows[at] = entry;
      else this.#insert(entry);
      return;
    }
    const shared = this.#shared(entry);
    const [only] = shared;
    if (only === undefined) return this.#insert(entry);
    const row = this.rows[only] as CallEntry;
    if (shared.length === 1 && row.firstRev <= entry.firstRev && entry.rev <= row.rev) {
      // The newest of a row as it is now; an older one of a fold is not seen.
      if (entry.rev === row.rev) this.rows[only] = updated(row, entry);
      return;
    }
    let joined: LogEntry = entry;
    for (const index of shared) joined = union(this.rows[index] as CallEntry, joined as CallEntry);
    if (shared.length === 1 && firstOf(joined) === row.firstRev) return this.#replace(only, joined);
    const gone = new Set(shared);
    this.rows = this.rows.filter((_, index) => !gone.has(index));
    this.rows.splice(this.#after(firstOf(joined)), 0, joined);
    this.#reindex();
  }

  /** Where calls are that this line stands for, too; oldest first. Lines of the same refusal never lie across each other. */
  #shared(entry: CallEntry): number[] {
    const found: number[] = [];
    for (let at = this.#after(entry.rev) - 1; at >= 0; at -= 1) {
      const row = this.rows[at] as CallEntry;
      if (!sameRefusal(row, entry)) continue;
      if (row.rev < entry.firstRev) break;
      found.unshift(at);
      if (row.firstRev <= entry.firstRev) break;
    }
    return found;
  }

  #insert(entry: LogEntry): void {
    const at = this.#after(firstOf(entry));
    if (at < this.rows.length) {
      // One that fits only now, such as a call whose result was searched for.
      this.rows.splice(at, 0, entry);
      this.#reindex();
      return;
    }
    const line = repeated(this.rows, entry);
    if (line >= 0) return this.#replace(line, merged(this.rows[line]!, entry));
    this.#places.set(entryKey(entry), this.#first + at);
    this.rows.push(entry);
  }

  #replace(at: number, entry: LogEntry): void {
    this.#places.delete(entryKey(this.rows[at]!));
    this.rows[at] = entry;
    this.#places.set(entryKey(entry), this.#first + at);
  }

  /** The first row that began after this `rev`. */
  #after(rev: number): number {
    let [low, high] = [0, this.rows.length];
    // Nearly everything comes at the end.
    if (high > 0 && firstOf(this.rows[high - 1]!) <= rev) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (firstOf(this.rows[middle]!) <= rev) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #reindex(): void {
    this.#places.clear();
    this.rows.forEach((row, at) => this.#places.set(entryKey(row), this.#first + at));
  }
}

/** The same call as it is now, still standing for as many as before. */
function updated(known: CallEntry, now: CallEntry): CallEntry {
  return { ...now, times: Math.max(known.times, now.times), firstRev: Math.min(known.firstRev, now.firstRev) };
}

/** A line over a row that it stands for in whole or in part: whole ones it has counted. */
function union(row: CallEntry, line: CallEntry): LogEntry {
  if (row.firstRev >= line.firstRev && row.rev <= line.rev) return line;
  return merged(row, line);
}
