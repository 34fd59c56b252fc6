// Where rows are on the scroll bar of the whole history. Rows are of one height; the loaded ones have their true place, and
// what is above and below them is a guess in pixels, scaled when the history is longer than a browser can scroll.
import type { LogCount, LogEntry } from '../backend/backend';
import { firstOf } from './key';

export const rowHeight = 28;
/** Browsers stop at some 16 to 33 million pixels; stay well below. */
export const maxPixels = 8_000_000;
/** There is more: leave room enough to scroll into, so that it is asked for. */
const room = 40 * rowHeight;

export interface Track {
  /** Pixels above and below the loaded rows. */
  above: number;
  below: number;
}

export interface Ends {
  rows: number;
  /** Is there anything before and after the loaded rows? */
  older: boolean;
  newer: boolean;
}

export interface Spread {
  /** Entries of the whole history, as far as counted. */
  total: number;
  oldestRev: number;
  newestRev: number;
  /** Of the loaded rows. */
  firstRev: number;
  lastRev: number;
}

const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));

export const height = (track: Track, rows: number): number => track.above + rows * rowHeight + track.below;

/** How the loaded rows lie in the whole; none before that is counted. */
export function wholeOf(
  loaded: { rows: LogEntry[]; older: number | null; newer: number | null },
  count: LogCount | null,
): Spread | null {
  if (!count || count.oldestRev === null || count.newestRev === null) return null;
  const [first, last] = [loaded.rows[0], loaded.rows.at(-1)];
  return {
    total: Math.max(0, count.calls),
    oldestRev: count.oldestRev,
    newestRev: count.newestRev,
    firstRev: first ? firstOf(first) : (loaded.older ?? count.newestRev),
    lastRev: last?.rev ?? loaded.newer ?? count.newestRev,
  };
}

/** The guess from how the loaded rows lie in the whole. */
export function spread(ends: Ends, whole: Spread | null): Track {
  if (!whole) return { above: ends.older ? room : 0, below: ends.newer ? room : 0 };
  const span = Math.max(1, whole.newestRev - whole.oldestRev);
  const pixels = Math.min(maxPixels, Math.max(0, whole.total) * rowHeight);
  const share = (revs: number) => Math.round((clamp(revs, 0, span) / span) * pixels);
  return {
    above: ends.older ? Math.max(room, share(whole.firstRev - whole.oldestRev)) : 0,
    below: ends.newer ? Math.max(room, share(whole.newestRev - whole.lastRev)) : 0,
  };
}

/** Rows were added (or, with a negative number, dropped) at the front. Answers the new track and how far the rows moved:
 *  scroll by so much and nothing moves for the eye. */
export function grewFront(track: Track, added: number, ends: Ends): { track: Track; shift: number } {
  const wanted = track.above - added * rowHeight;
  const above = ends.older ? clamp(wanted, room, maxPixels) : 0;
  return { track: { above, below: track.below }, shift: above - wanted };
}

/** Rows were added (or dropped) at the end; nothing above moves. */
export function grewEnd(track: Track, added: number, ends: Ends): Track {
  const wanted = track.below - added * rowHeight;
  return { above: track.above, below: ends.newer ? clamp(wanted, room, maxPixels) : 0 };
}

/** Other rows were loaded after a jump: the one at `index` shall be at `top`, and the bar keeps its length as far as it can. */
export function landed(top: number, index: number, total: number, ends: Ends): { track: Track; shift: number } {
  const wanted = top - index * rowHeight;
  const above = ends.older ? clamp(wanted, room, maxPixels) : 0;
  const left = total - above - ends.rows * rowHeight;
  return { track: { above, below: ends.newer ? clamp(left, room, maxPixels) : 0 }, shift: above - wanted };
}

/** The `rev` that lies at this height of the bar. */
export function revAt(
  scrollTop: number,
  viewport: number,
  total: number,
  whole: Pick<Spread, 'oldestRev' | 'newestRev'>,
): number {
  const share = clamp(scrollTop / Math.max(1, total - viewport), 0, 1);
  return Math.round(whole.oldestRev + share * (whole.newestRev - whole.oldestRev));
}

/** Rows to draw: [from, to), with some more on both sides. */
export function visibleRows(
  scrollTop: number,
  viewport: number,
  track: Track,
  rows: number,
  more = 8,
): [number, number] {
  const from = Math.floor((scrollTop - track.above) / rowHeight) - more;
  const to = Math.ceil((scrollTop + viewport - track.above) / rowHeight) + more;
  const first = clamp(from, 0, rows);
  return [first, clamp(to, first, rows)];
}

/** What to load for this place: nothing, one side, or somewhere else altogether. */
export function wants(
  scrollTop: number,
  viewport: number,
  track: Track,
  ends: Ends,
): 'older' | 'newer' | 'jump' | null {
  const top = track.above;
  const bottom = track.above + ends.rows * rowHeight;
  const ahead = 60 * rowHeight;
  const far = 200 * rowHeight;
  if ((ends.older && scrollTop + viewport < top - far) || (ends.newer && scrollTop > bottom + far)) return 'jump';
  if (ends.older && scrollTop < top + ahead) return 'older';
  if (ends.newer && scrollTop + viewport > bottom - ahead) return 'newer';
  return null;
}

/** Rows above the loaded ones, as good as it is known: for screen readers. */
export const rowsAbove = (track: Track): number => Math.round(track.above / rowHeight);
