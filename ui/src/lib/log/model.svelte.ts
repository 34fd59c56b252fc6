// The log as the window has it: pages on demand, live entries at most once a frame and less often where many come, following as an explicit state. Knows
// nothing of the DOM except frames; the list tells it where it is scrolled to and reads rows and the track from it.
import {
  BackendError,
  type Backend,
  type CallLine,
  type LogBatch,
  type LogCount,
  type LogEntry,
  type CallFilter,
  type Stop,
} from '../backend';
import { LogBuffer } from './buffer';
import { followOn } from './following';
import { holds, inOrder, type CallEntry, type Row } from './key';
import { counted, NewsCounter, type News } from './tally';
import { Unfolds } from './unfold';
import {
  grewEnd,
  grewFront,
  height,
  landed,
  revAt,
  rowHeight,
  spread,
  wants,
  wholeOf,
  type Ends,
  type Spread,
  type Track,
} from './track';

const page = 200;
export const keep = 5_000;
/** More waiting than this (the window was hidden): reading the newest again is cheaper. */
const tooMany = 2_000;
/** Bars are drawn no more often than this. */
const tallyEvery = 1_000;
/** Where many come, rows are drawn no more often than this: nobody reads faster, and each time all of them are painted. */
const drawEvery = 100;
/** More lines than this at once are many. */
const few = 3;

export class LogModel {
  readonly buffer = new LogBuffer();
  track: Track = { above: 0, below: 0 };
  /** Grows with every change of rows or track; read it to be told. */
  version = $state(0);
  status: 'loading' | 'ready' | 'failed' = $state('loading');
  error: BackendError | null = $state.raw(null);
  /** Why nothing new comes; goes away by itself. */
  trouble: BackendError | null = $state.raw(null);
  /** Do new rows pull the list along? */
  following = $state(true);
  /** Came while the list was elsewhere. */
  fresh = $state(0);
  /** Nothing was found yet, and there is more to look through. */
  seeking = $state(false);
  count: LogCount | null = $state.raw(null);
  /** Entries since the last announcement. */
  announced = { calls: 0, refused: 0 };
  /** So far the list has to scroll for nothing to move before the eye; the list takes it and sets it to 0. */
  shift = 0;

  readonly #backend: Backend;
  readonly #unfolds = new Unfolds();
  #filter: CallFilter = {};
  #generation = 0;
  #stops: Stop[] = [];
  #waiting: LogEntry[] = [];
  #overflowed = false;
  #frame = 0;
  #drawTimer: ReturnType<typeof setTimeout> | null = null;
  /** No sooner than then rows are drawn again. */
  #drawAt = 0;
  /** Counts loads: an answer that was overtaken by a newer question is not used. */
  #load = 0;
  #loading = false;
  /** What came while a page was read: the page may have been read before it. */
  #meanwhile: LogEntry[] = [];
  #told = new NewsCounter(0, []);
  /** Of the newest batch. A lower one after it is of another history. */
  #rev = 0;
  /** Everything up to this `rev` was put into the rows. */
  #through = 0;
  /** Where the list is scrolled to, as it said last. */
  #place = { top: 0, viewport: 30 * rowHeight };
  #settled = false;
  /** The count with what came since, shown a few times a second. */
  #tallied: LogCount | null = null;
  #tallyTimer: ReturnType<typeof setTimeout> | null = null;
  /** The list is at its lower edge and nobody points at it: old rows may go. */
  stuck = true;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Those of the buffer, and what is inside of lines that are open. */
  get rows(): Row[] {
    return this.#unfolds.none ? this.buffer.rows : this.#unfolds.spread(this.buffer.rows);
  }

  get ends(): Ends {
    return { rows: this.rows.length, older: this.buffer.older !== null, newer: this.buffer.newer !== null };
  }

  get height(): number {
    return height(this.track, this.rows.length);
  }

  /** Is what this line stands for shown below it? */
  isUnfolded(line: CallEntry): boolean {
    return this.#unfolds.isOpen(line);
  }

  /** Shows what a line stands for below it, or no longer. Nothing above it moves. */
  async toggle(line: CallEntry): Promise<void> {
    const before = this.rows.length;
    if (this.#unfolds.isOpen(line)) this.#unfolds.close(line);
    else {
      this.leaveTail();
      const mine = this.#generation;
      try {
        await this.#unfolds.read(this.#backend, this.#filter, line);
      } catch (thrown) {
        this.#fail(thrown);
      }
      if (mine !== this.#generation) return this.#unfolds.clear();
    }
    this.track = grewEnd(this.track, this.rows.length - before, this.ends);
    this.#changed();
  }

  /** Starts anew with this filter, at the newest or around one `rev`. */
  async open(filter: CallFilter): Promise<void> {
    this.close();
    const mine = ++this.#generation;
    this.#filter = filter;
    this.#settled = false;
    this.following = true;
    this.fresh = 0;
    this.error = null;
    this.trouble = null;
    // Rows of the last question stay until the answer is there: no flash while typing.
    this.#stops.push(
      this.#backend.count(
        filter,
        (count) => mine === this.#generation && this.#counted(count),
        () => undefined,
      ),
    );
    try {
      const first = await this.#backend.logPage(filter, { kind: 'newest' }, page);
      if (mine !== this.#generation) return;
      this.buffer.reset(first);
      this.track = spread(this.ends, this.#whole());
      this.seeking = this.#seeks;
      this.status = 'ready';
      this.#rev = this.#through = first.rev;
      this.#told = new NewsCounter(first.rev, this.buffer.rows);
      this.#changed();
      this.#follow(mine);
      void this.#fill();
    } catch (thrown) {
      if (mine !== this.#generation) return;
      this.status = 'failed';
      this.error = BackendError.from(thrown);
    }
  }

  close(): void {
    this.#generation += 1;
    this.#unfolds.clear();
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#waiting = [];
    this.#meanwhile = [];
    this.#overflowed = false;
    this.#load += 1;
    this.#loading = false;
    this.seeking = false;
    this.#tallied = null;
    if (this.#tallyTimer) clearTimeout(this.#tallyTimer);
    this.#tallyTimer = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#drawTimer) clearTimeout(this.#drawTimer);
    this.#drawTimer = null;
  }

  /** To the newest, and stay there. */
  async followTail(): Promise<void> {
    this.following = true;
    this.fresh = 0;
    if (this.buffer.atTail) return this.#changed();
    await this.#newest();
  }

  leaveTail(): void {
    this.following = false;
  }

  /** The list is scrolled to here: loads what is missing around it. */
  async scrolled(top: number, viewport: number): Promise<void> {
    this.#place = { top, viewport };
    await this.#fill();
  }

  /** Asks on until the view is full or there is no more: a page may be short or empty and still have a side to go on. */
  async #fill(): Promise<void> {
    const mine = this.#generation;
    let more = true;
    while (more && mine === this.#generation && !this.#loading && this.status === 'ready') {
      const { viewport } = this.#place;
      const top = this.following && this.stuck ? Math.max(0, this.height - viewport) : this.#place.top;
      const want = wants(top, viewport, this.track, this.ends);
      if (want === 'older') more = await this.#page({ kind: 'before', rev: this.buffer.older! });
      else if (want === 'newer') more = await this.#page({ kind: 'after', rev: this.buffer.newer! });
      else {
        more = false;
        const whole = this.#whole();
        if (want !== 'jump' || !whole) break;
        const total = this.height;
        await this.jump(revAt(top, viewport, total, whole), top + viewport / 3, total);
      }
    }
    if (mine === this.#generation && !this.#loading) this.seeking = false;
  }

  get #seeks(): boolean {
    return this.buffer.length === 0 && (this.buffer.older !== null || this.buffer.newer !== null);
  }

  /** Other rows: those around this `rev`, which shall be at this height. */
  async jump(rev: number, top: number, total = this.height): Promise<void> {
    this.following = false;
    await this.#replace(
      () => {
        const at = this.rows.findIndex((row) => row.rev >= rev);
        return landed(top, at < 0 ? Math.max(0, this.rows.length - 1) : at, total, this.ends);
      },
      { kind: 'near', rev },
    );
  }

  /** Where a call is, if it is loaded. */
  placeOf(call: CallLine): number {
    return this.rows.findIndex((row) => row.kind === 'call' && holds(row, call));
  }

  #newest(): Promise<void> {
    return this.#replace(() => ({ track: spread(this.ends, this.#whole()), shift: 0 }), { kind: 'newest' });
  }

  async #replace(
    settle: () => { track: Track; shift: number },
    from: { kind: 'newest' } | { kind: 'near'; rev: number },
  ): Promise<void> {
    const mine = this.#begin();
    try {
      const got = await this.#backend.logPage(this.#filter, from, page);
      if (mine !== this.#load) return;
      this.#unfolds.clear();
      this.buffer.reset(got);
      this.#catchUp();
      const { track, shift } = settle();
      this.track = track;
      this.#moved(shift);
      this.#settled = true;
      this.#changed();
    } catch (thrown) {
      if (mine === this.#load) this.#fail(thrown);
    } finally {
      if (mine === this.#load) this.#loading = false;
    }
    if (mine === this.#load) await this.#fill();
  }

  /** Answers whether it got any further. */
  async #page(from: { kind: 'before'; rev: number } | { kind: 'after'; rev: number }): Promise<boolean> {
    const mine = this.#begin();
    try {
      const got = await this.#backend.logPage(this.#filter, from, page);
      if (mine !== this.#load) return false;
      const { older } = this.buffer;
      if (from.kind === 'before') {
        // Rows in front were dropped meanwhile: these would not join what is left.
        if (older === null || older > from.rev) return true;
        this.#front(this.buffer.prepend(got));
        const length = this.rows.length;
        if (this.buffer.trimEnd(keep) > 0) this.track = grewEnd(this.track, this.rows.length - length, this.ends);
      } else {
        const before = this.rows.length;
        this.buffer.append(got);
        this.#catchUp();
        this.track = grewEnd(this.track, this.rows.length - before, this.ends);
        this.#trimFront();
      }
      this.seeking = this.#seeks;
      this.#changed();
      return from.kind === 'before'
        ? this.buffer.older !== null && this.buffer.older < from.rev
        : this.buffer.newer !== null && this.buffer.newer > from.rev;
    } catch (thrown) {
      if (mine === this.#load) this.#fail(thrown);
      return false;
    } finally {
      if (mine === this.#load) this.#loading = false;
    }
  }

  #begin(): number {
    if (!this.#loading) this.#meanwhile = [];
    this.#loading = true;
    this.#load += 1;
    return this.#load;
  }

  /** What came while a page was read may not be in it. */
  #catchUp(): void {
    if (this.buffer.atTail) this.buffer.live(this.#meanwhile);
    this.#meanwhile = [];
  }

  /** Old rows go, with what is open inside of them. */
  #trimFront(): void {
    const before = this.rows.length;
    this.buffer.trimFront(keep);
    this.#front(this.rows.length - before);
  }

  #front(added: number): void {
    const { track, shift } = grewFront(this.track, added, this.ends);
    this.track = track;
    this.#moved(shift);
  }

  #moved(by: number): void {
    this.shift += by;
    this.#place.top += by;
  }

  #follow(mine: number): void {
    this.#stops.push(
      followOn(this.#backend, this.#filter, {
        rev: () => this.#rev,
        came: (batch) => mine === this.#generation && this.#came(batch),
        troubled: (trouble) => {
          if (mine === this.#generation) this.trouble = trouble;
        },
      }),
    );
  }

  #came(batch: LogBatch): void {
    if (batch.rev < this.#rev || batch.reset) {
      // The history was deleted or replaced, and nothing that is shown is in it; or too much was missed to go on from it.
      void this.open(this.#filter);
      return;
    }
    this.#rev = batch.rev;
    if (batch.skipped > 0 || this.#waiting.length + batch.entries.length > tooMany) {
      this.#overflowed = true;
      this.fresh += this.#waiting.length + batch.skipped;
      this.#waiting = [];
    }
    this.#waiting.push(...batch.entries);
    this.#draw();
  }

  /** With the next frame, or when it is time for one. */
  #draw(): void {
    if (this.#frame || this.#drawTimer) return;
    const next = () => {
      this.#drawTimer = null;
      this.#frame = requestAnimationFrame(() => this.#flush());
    };
    const wait = this.#drawAt - performance.now();
    if (wait > 0) this.#drawTimer = setTimeout(next, wait);
    else next();
  }

  #flush(): void {
    this.#frame = 0;
    const entries = this.#waiting;
    this.#waiting = [];
    this.#drawAt = entries.length > few ? performance.now() + drawEvery : 0;
    const came = this.#tally(entries);
    if (this.#overflowed) {
      this.#overflowed = false;
      // There is a gap before these: do not show them as if there were none.
      if (this.buffer.atTail) this.buffer.leaveTail(this.#through);
      if (this.following) void this.#newest();
      else this.fresh += came;
      return;
    }
    if (this.#loading) this.#meanwhile.push(...entries);
    const before = this.rows.length;
    this.buffer.live(entries);
    this.#through = this.#rev;
    if (!this.stuck || !this.following) this.fresh += came;
    if (this.following && this.stuck) {
      // Room that is only guessed gives way to what came, so that the list stays where it is and only its rows change: a
      // list that scrolls a screen in every frame is drawn anew far beyond what is seen of it.
      this.track = grewFront(this.track, this.rows.length - before, this.ends).track;
      if (this.buffer.length > keep + page) this.#trimFront();
    } else if (this.buffer.length > keep + 5 * page && this.buffer.atTail) {
      // Somebody reads further up: nothing above may go, so nothing more is taken below.
      this.buffer.leaveTail(this.#through);
      this.following = false;
    }
    this.#changed();
  }

  /** Counts what is new, and answers how much that is. */
  #tally(entries: LogEntry[]): number {
    const news: News[] = [];
    let came = 0;
    for (const entry of inOrder(entries)) {
      const times = this.#told.times(entry);
      came += times;
      if (entry.kind !== 'call' || times === 0) continue;
      news.push({ call: entry, times });
      this.announced.calls += times;
      if (entry.refused) this.announced.refused += times;
    }
    const known = this.#tallied ?? this.count;
    if (!known?.done || news.length === 0) return came;
    this.#tallied = counted(known, news);
    this.#tallyTimer ??= setTimeout(() => {
      this.#tallyTimer = null;
      if (this.#tallied) this.count = this.#tallied;
    }, tallyEvery);
    return came;
  }

  #counted(count: LogCount): void {
    this.#tallied = null;
    this.count = count;
    if (this.#settled || this.status !== 'ready') return;
    const track = spread(this.ends, this.#whole());
    this.#moved(track.above - this.track.above);
    this.track = track;
    if (count.done) this.#settled = true;
    this.#changed();
  }

  #whole(): Spread | null {
    return wholeOf(this.buffer, this.count);
  }

  /** Something failed while rows are shown: keep them, and say so. */
  #fail(thrown: unknown): void {
    const error = BackendError.from(thrown);
    if (error.code === 'cancelled') return;
    this.error = error;
  }

  #changed(): void {
    this.version += 1;
  }
}
