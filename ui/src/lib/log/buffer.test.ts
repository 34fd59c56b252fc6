import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../backend/backend';
import { Random } from '../../testing/random';
import { LogBuffer } from './buffer';
import { merged, repeated, sameRefusal } from './fold';
import { entryKey, firstOf, holds, type CallEntry } from './key';
import { call, change, pageOf, refusal } from '../../testing/lines';

const revs = (buffer: LogBuffer) => buffer.rows.flatMap((row) => (row.kind === 'call' ? [row.rev] : []));
const times = (buffer: LogBuffer) => buffer.rows.map((row) => (row.kind === 'call' ? row.times : 0));

describe('folding', () => {
  it('joins equal refusals across a page boundary', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([refusal(5, { times: 2, firstRev: 4 }), call(6)], 4, null));
    expect(buffer.prepend(pageOf([call(1), refusal(3, { times: 2, firstRev: 2 })], null, null))).toBe(1);
    expect(buffer.rows.map((row) => (row as CallEntry).firstRev)).toEqual([1, 2, 6]);
    expect(times(buffer)).toEqual([1, 4, 1]);
  });

  it('joins equal refusals across batches, and counts none twice when the gate folded further back', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([refusal(3, { times: 3, firstRev: 1 })], null, null));
    buffer.live([refusal(4)]);
    expect(times(buffer)).toEqual([4]);
    buffer.live([refusal(6, { times: 6, firstRev: 1 })]);
    expect(times(buffer)).toEqual([6]);
    expect(revs(buffer)).toEqual([6]);
  });

  it('does not join what a person would tell apart', () => {
    for (const other of [
      refusal(2, { session: 's2' }),
      refusal(2, { decision: 'capped' }),
      refusal(2, { rule: '/tools/other' }),
      call(2),
      change(2),
    ]) {
      expect(sameRefusal(refusal(1), other)).toBe(false);
    }
    expect(sameRefusal(call(1, { gist: 'a' }), call(2, { gist: 'a' }))).toBe(false);
  });

  it('a loop over several tools is one row that names them', () => {
    const buffer = new LogBuffer();
    const tools = ['get', 'list', 'send'];
    buffer.reset(pageOf([refusal(1, { tool: 'get' }), refusal(2, { tool: 'list' })], null, null));
    buffer.live([3, 4, 5, 6].map((rev) => refusal(rev, { tool: tools[(rev - 1) % 3]! })));
    expect(times(buffer)).toEqual([6]);
    expect(buffer.rows[0]).toMatchObject({ tools, firstMs: 1_000, atMs: 6_000 });
  });

  it('an older call of a fold that comes again is not a new row', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([refusal(1), refusal(2)], null, null));
    buffer.live([refusal(1)]);
    expect(times(buffer)).toEqual([2]);
  });
});

describe('a line for several calls', () => {
  it('stands where its first call stands, whatever others did since, and stays there while it grows', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1), refusal(2), call(3, { session: 's2' }), refusal(4)], null, null));
    buffer.live([refusal(6, { times: 3, firstRev: 2 }), call(5, { session: 's2' })]);
    expect(revs(buffer)).toEqual([1, 6, 3, 5]);
    expect(times(buffer)).toEqual([1, 3, 1, 1]);
    buffer.rows.forEach((row, at) => expect(buffer.indexOf(entryKey(row))).toBe(at));
    expect(buffer.indexOf('id-4')).toBe(-1);
  });

  it('two loops that take turns are two rows, in every page, batch and seam', () => {
    const turns = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => refusal(from + at, { session: `s${(from + at) % 2}` }));
    const buffer = new LogBuffer();
    buffer.reset(pageOf(turns(101, 201), 101, null));
    buffer.live(turns(201, 301));
    expect(times(buffer)).toEqual([100, 100]);
    buffer.prepend(pageOf(turns(1, 101), null, null));
    expect(times(buffer)).toEqual([150, 150]);
    expect(buffer.rows.map(firstOf)).toEqual([1, 2]);
  });

  it('ends with whatever else its session does, with a change of rules, and out of sight', () => {
    const other = (rev: number) => call(rev, { session: 's2' });
    const between: [LogEntry[], number][] = [
      [[call(2)], 2],
      [[change(2)], 2],
      [[other(2)], 1],
      [Array.from({ length: 20 }, (_, at) => other(2 + at)), 1],
      [Array.from({ length: 21 }, (_, at) => other(2 + at)), 2],
    ];
    for (const [others, lines] of between) {
      const buffer = new LogBuffer();
      buffer.reset(pageOf([refusal(1), ...others, refusal(30)], null, null));
      expect(buffer.length - others.length).toBe(lines);
    }
  });

  it('leaves what lies outside of it alone, and changes between', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([refusal(1, { rule: 'a' }), change(2), refusal(3), call(4)], null, null));
    buffer.live([refusal(3, { times: 1, bytes: 7 })]);
    expect(buffer.rows.map(entryKey)).toEqual(['id-1', 'change:2', 'id-3', 'id-4']);
    expect((buffer.rows[2] as CallEntry).bytes).toBe(7);
  });

  it('that began before the first row is not counted again when that is asked for', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([refusal(10, { times: 2, firstRev: 9 })], 9, null));
    buffer.live([refusal(11, { times: 6, firstRev: 6 })]);
    buffer.prepend(pageOf([call(5), refusal(8, { times: 3, firstRev: 6 })], 5, null));
    expect(revs(buffer)).toEqual([5, 11]);
    expect(times(buffer)).toEqual([1, 6]);
    expect(buffer.older).toBe(5);
  });

  it('that was dropped with calls after the first row that is left is found again', () => {
    const buffer = new LogBuffer();
    const across = [refusal(5, { times: 3, firstRev: 1 }), refusal(6, { times: 3, firstRev: 2, session: 's2' })];
    buffer.reset(pageOf([...across, call(7)], null, null));
    expect(buffer.trimFront(2)).toBe(1);
    expect(buffer.older).toBe(6);
    buffer.prepend(pageOf([across[0]!, refusal(4, { times: 2, firstRev: 2, session: 's2' })], null, null));
    expect(times(buffer)).toEqual([3, 3, 1]);
    expect(buffer.trimEnd(1)).toBe(2);
    expect(buffer.newer).toBe(1);
  });
});

describe('the order', () => {
  it('is that of rev, whatever the time says', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1), { ...change(2), atMs: 99_000 } as LogEntry, call(4)], null, null));
    // A call whose result is what was searched for fits only when it is over.
    buffer.live([call(6), { ...change(5), atMs: 0 } as LogEntry, call(3)]);
    expect(buffer.rows.map((row) => row.rev)).toEqual([1, 2, 3, 4, 5, 6]);
    buffer.rows.forEach((row, at) => expect(buffer.indexOf(entryKey(row))).toBe(at));
  });
});

describe('live entries', () => {
  it('a call that ends replaces itself', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1, { outcome: null, durationUs: null }), call(2)], null, null));
    buffer.live([call(1, { durationUs: 5 })]);
    expect((buffer.rows[0] as CallEntry).durationUs).toBe(5);
    expect(buffer.length).toBe(2);
  });

  it('away from the tail nothing is added, and what came is counted', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1), call(2)], null, 2));
    expect(buffer.live([call(3), call(4), call(2, { bytes: 99 })])).toBe(2);
    expect(revs(buffer)).toEqual([1, 2]);
    expect((buffer.rows[1] as CallEntry).bytes).toBe(99);
  });

  it('changes are shown once', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1), change(7)], null, null));
    buffer.live([change(7), change(8)]);
    expect(buffer.rows.map(entryKey)).toEqual(['id-1', 'change:7', 'change:8']);
  });
});

describe('trimming', () => {
  it('cuts at any entry, so that what was dropped can be asked for again', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([call(1), change(2), change(3), call(4), call(5), change(6), call(7)], null, null));
    expect(buffer.trimFront(5)).toBe(2);
    expect(buffer.older).toBe(3);
    expect(buffer.trimEnd(4)).toBe(1);
    expect(buffer.newer).toBe(6);
    expect(buffer.rows.map((row) => row.rev)).toEqual([3, 4, 5, 6]);
  });

  it('keeps together what shares a rev: one asks before or after it', () => {
    const buffer = new LogBuffer();
    const event = { ...change(2), id: 9 } as LogEntry;
    buffer.reset(pageOf([call(1), change(2), event, call(3)], null, null));
    expect(buffer.trimFront(2)).toBe(3);
    buffer.reset(pageOf([call(1), change(2), event, call(3)], null, null));
    expect(buffer.trimEnd(2)).toBe(3);
    expect(buffer.newer).toBe(1);
  });

  it('without a row it still knows from where to ask on', () => {
    const buffer = new LogBuffer();
    buffer.reset(pageOf([], 40, null));
    buffer.leaveTail(90);
    expect([buffer.older, buffer.newer]).toEqual([40, 90]);
    buffer.prepend(pageOf([], 20, null));
    expect(buffer.older).toBe(20);
    buffer.append(pageOf([call(95)], null, null));
    expect(revs(buffer)).toEqual([95]);
  });
});

/** A history of its own, answering pages and batches as the gate does. */
class History {
  entries: LogEntry[] = [];
  #tail: LogEntry[] = [];
  #told = 0;

  /** Looks at so many entries at most: then the page is short, or empty, and says where to go on. */
  #walk(at: number, step: 1 | -1, count: number, looks: number): { lines: LogEntry[]; edge: number | null } {
    const lines: LogEntry[] = [];
    let edge: number | null = null;
    for (let index = at; index >= 0 && index < this.entries.length; index += step) {
      if (looks === 0) return { lines, edge: this.entries[index - step]!.rev };
      looks -= 1;
      const entry = this.entries[index]!;
      if (hidden(entry)) continue;
      const line = repeated(lines, entry);
      if (line >= 0) lines[line] = merged(lines[line]!, entry);
      else if (lines.length >= count) return { lines, edge };
      else lines.push(entry);
      edge = entry.rev;
    }
    return { lines, edge: null };
  }

  page(kind: 'newest' | 'before' | 'after' | 'near', rev: number, count: number, looks: number) {
    // Entry n has the rev n.
    const at = kind === 'newest' ? this.entries.length : kind === 'after' ? rev : rev - 1;
    const sorted = (lines: LogEntry[]) => lines.sort((a, b) => firstOf(a) - firstOf(b));
    if (kind === 'after') {
      const { lines, edge } = this.#walk(at, 1, count, looks);
      return pageOf(sorted(lines), rev + 1, edge);
    }
    const older = this.#walk(at - 1, -1, count, looks);
    if (kind !== 'near') return pageOf(sorted(older.lines), older.edge, null);
    const newer = this.#walk(at, 1, count, looks);
    return pageOf(sorted([...older.lines, ...newer.lines]), older.edge, newer.edge);
  }

  /** What came since the last batch: equal refusals of a session as one line from their first one on, shown or not. */
  batch(): LogEntry[] {
    const lines: LogEntry[] = [];
    for (const entry of this.entries.slice(this.#told)) {
      if (hidden(entry)) continue;
      const known = repeated(this.#tail, entry);
      const before = known < 0 ? entry : this.#tail[known]!;
      const line = known < 0 ? entry : merged(before, entry);
      if (known < 0) this.#tail.push(line);
      else this.#tail[known] = line;
      const told = lines.indexOf(before);
      if (told < 0) lines.push(line);
      else lines[told] = line;
    }
    this.#told = this.entries.length;
    return lines;
  }
}

/** Does not fit the filter. */
const hidden = (entry: LogEntry): boolean => entry.kind === 'call' && entry.tool === 'other';

describe('whatever is asked in whatever order, a stretch has no gap and nothing twice', () => {
  it.each(Array.from({ length: 40 }, (_, seed) => seed + 1))('seed %i', (seed) => {
    const random = new Random(seed);
    const history = new History();
    const grow = () => {
      const rev = history.entries.length + 1;
      const roll = random.next();
      const made =
        roll < 0.08
          ? change(rev)
          : roll < 0.55
            ? refusal(rev, { rule: `/tools/${random.int(2)}`, session: `s${random.int(3)}` })
            : call(rev, { tool: roll < 0.75 ? 'other' : 'read_file', session: `s${random.int(3)}` });
      history.entries.push(made);
    };
    for (let n = 0; n < 120; n += 1) grow();
    history.batch();
    const buffer = new LogBuffer();
    buffer.reset(history.page('newest', 0, 20, 50));
    for (let step = 0; step < 120; step += 1) {
      const [roll, count, looks] = [random.int(8), 1 + random.int(25), 1 + random.int(40)];
      if (roll === 0 && buffer.older !== null) buffer.prepend(history.page('before', buffer.older, count, looks));
      else if (roll === 1 && buffer.newer !== null) buffer.append(history.page('after', buffer.newer, count, looks));
      else if (roll === 2) buffer.trimFront(30);
      else if (roll === 3) buffer.trimEnd(30);
      else if (roll === 4) buffer.reset(history.page('near', 1 + random.int(history.entries.length), count, looks));
      else if (roll === 5) buffer.reset(history.page('newest', 0, count, looks));
      else {
        for (let n = random.int(5); n > 0; n -= 1) grow();
        const batch = history.batch();
        // Something known comes again with it, as running calls do.
        const again = history.entries[random.int(history.entries.length)]!;
        if (random.next() < 0.3 && !hidden(again)) batch.unshift(again);
        buffer.live(batch);
      }
      // Everything between the two cursors once; lines may have more of their own on both sides.
      const [low, high] = [buffer.older ?? 1, buffer.newer ?? history.entries.length];
      for (const one of history.entries.filter((it) => it.rev >= low && it.rev <= high && !hidden(it))) {
        const rows = buffer.rows.filter((row) =>
          row.kind === 'call' && one.kind === 'call' ? holds(row, one) : entryKey(row) === entryKey(one),
        );
        expect(rows).toHaveLength(1);
      }
      for (const row of buffer.rows) {
        if (row.kind !== 'call') continue;
        const own = history.entries.filter((one) => one.kind === 'call' && !hidden(one) && holds(row, one));
        expect(own.every((one) => row.times === 1 || sameRefusal(one, row))).toBe(true);
        expect(row.times).toBe(own.length);
      }
      expect(buffer.rows).toEqual(buffer.rows.toSorted((a, b) => firstOf(a) - firstOf(b)));
      buffer.rows.forEach((row, at) => expect(buffer.indexOf(entryKey(row))).toBe(at));
    }
  });
});
