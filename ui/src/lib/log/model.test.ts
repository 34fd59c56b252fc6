// The log of the window on a gate that answers as the real one may: short and empty pages, folded batches, another history.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend, LogBatch, LogEntry, LogPage, PageFrom } from '../backend';
import { keep, LogModel } from './model.svelte';
import { call, pageOf, refusal } from '../../testing/lines';
import { rowHeight } from './track';

let model: LogModel;
afterEach(() => model.close());

/** A gate that answers with these pages, in turn; the last one again and again. */
function gate(...pages: LogPage[]) {
  const asked: PageFrom[] = [];
  let tell: (batch: LogBatch) => void = () => undefined;
  const backend = {
    logPage: vi.fn(async (_filter: unknown, from: PageFrom) => {
      asked.push(from);
      return pages[Math.min(asked.length, pages.length) - 1]!;
    }),
    count: () => () => undefined,
    follow: (_filter: unknown, _rev: number, on: (batch: LogBatch) => void) => {
      tell = on;
      return () => undefined;
    },
  };
  model = new LogModel(backend as unknown as Backend);
  return {
    asked,
    backend,
    come: (entries: LogEntry[], rev: number, more: Partial<LogBatch> = {}) =>
      tell({ entries, rev, skipped: 0, reset: false, problem: null, ...more }),
  };
}

const revs = () => model.rows.map((row) => row.rev);
const at = (page: LogPage, rev: number): LogPage => ({ ...page, rev });

describe('following that goes wrong', () => {
  it('says why nothing comes, keeps what is shown, and takes it back when it works again', async () => {
    const { come } = gate(at(pageOf([call(1)], null, null), 1));
    await model.open({});
    come([], 1, { problem: 'New calls cannot be shown: the disk is gone.' });
    expect(model.trouble?.message).toContain('the disk is gone');
    expect(revs()).toEqual([1]);
    come([call(2)], 2);
    expect(model.trouble).toBeNull();
    await vi.waitFor(() => expect(revs()).toEqual([1, 2]));
  });

  it('reads everything anew when too much was missed', async () => {
    const { asked, come } = gate(
      at(pageOf([call(1)], null, null), 1),
      at(pageOf([call(1), call(90_000)], null, null), 90_000),
    );
    await model.open({});
    come([call(90_000)], 90_000, { reset: true });
    await vi.waitFor(() => expect(revs()).toEqual([1, 90_000]));
    expect(asked.length).toBe(2);
  });
});

describe('pages that are short or empty', () => {
  it('are gone on from by themselves until there is something to show', async () => {
    const { asked } = gate(
      pageOf([], 900, null),
      pageOf([], 500, null),
      pageOf([call(400)], 300, null),
      pageOf([call(20)], null, null),
    );
    await model.open({ text: 'rare' });
    expect(model.seeking).toBe(true);
    await vi.waitFor(() => expect(revs()).toEqual([20, 400]));
    expect(asked.slice(1)).toEqual([900, 500, 300].map((rev) => ({ kind: 'before', rev })));
    await vi.waitFor(() => expect(model.seeking).toBe(false));
  });

  it('are not asked for any more once the view is full', async () => {
    const rows = (from: number) => Array.from({ length: 200 }, (_, n) => call(from + n));
    const { asked } = gate(pageOf([call(5_000)], 4_000, null), pageOf(rows(3_000), 2_000, null), pageOf([], 1, null));
    await model.open({});
    await vi.waitFor(() => expect(revs().length).toBe(201));
    await model.scrolled(1e9, 400);
    expect(asked.length).toBe(2);
  });

  it('do not make it ask forever when the gate gets no further', async () => {
    const { asked } = gate(pageOf([], 70, null));
    await model.open({});
    await vi.waitFor(() => expect(model.seeking).toBe(false));
    expect(asked.length).toBe(2);
  });

  it('end with nothing when nothing fits', async () => {
    gate(pageOf([], 70, null), pageOf([], 30, null), pageOf([], null, null));
    await model.open({});
    await vi.waitFor(() => expect(model.seeking).toBe(false));
    expect(revs()).toEqual([]);
    expect(model.status).toBe('ready');
  });
});

describe('batches', () => {
  it('a folded line takes the place of rows, and counts only what is new', async () => {
    const { come } = gate(at(pageOf([call(1), refusal(4, { times: 3, firstRev: 2 })], null, null), 4));
    await model.open({});
    model.leaveTail();
    come([refusal(6, { times: 5, firstRev: 2 })], 6);
    await vi.waitFor(() => expect(revs()).toEqual([1, 6]));
    expect(model.announced).toEqual({ calls: 2, refused: 2 });
    expect(model.fresh).toBe(2);
    // It changed: nothing new.
    come([call(1, { bytes: 9 })], 6);
    await vi.waitFor(() => expect(model.rows[0]).toMatchObject({ bytes: 9 }));
    expect(model.fresh).toBe(2);
  });

  it('do not scroll a list that follows while there is room above, and grow one that does not', async () => {
    const rows = Array.from({ length: 100 }, (_, n) => call(1_000 + n));
    const { come } = gate(at(pageOf(rows, 900, null), 1_099));
    await model.open({});
    model.track = { above: 50_000, below: 0 };
    const { height } = model;
    come([call(1_100), call(1_101)], 1_101);
    await vi.waitFor(() => expect(revs().at(-1)).toBe(1_101));
    expect(model.height).toBe(height);

    model.stuck = false;
    come([call(1_102)], 1_102);
    await vi.waitFor(() => expect(revs().at(-1)).toBe(1_102));
    expect(model.height).toBe(height + rowHeight);
    expect(model.shift).toBe(0);
  });

  it('with a lower rev are of another history: everything is read again', async () => {
    const { come, asked } = gate(at(pageOf([call(8), call(9)], null, null), 9), at(pageOf([call(1)], null, null), 1));
    await model.open({});
    come([call(10)], 10);
    await vi.waitFor(() => expect(revs()).toEqual([8, 9, 10]));
    come([call(1)], 1);
    await vi.waitFor(() => expect(revs()).toEqual([1]));
    expect(asked.map((from) => from.kind)).toEqual(['newest', 'newest']);
  });

  it('that come while a page is read are not lost with the rows before it', async () => {
    const { come, backend } = gate(at(pageOf([call(1)], null, 1), 5));
    await model.open({});
    await vi.waitFor(() => expect(backend.logPage).toHaveBeenCalledTimes(2));
    let answer: (page: LogPage) => void = () => undefined;
    backend.logPage.mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    const following = model.followTail();
    const before = model.version;
    come([call(6)], 6);
    await vi.waitFor(() => expect(model.version).toBeGreaterThan(before));
    answer(at(pageOf([call(4), call(5)], 4, null), 5));
    backend.logPage.mockImplementation(async () => pageOf([], null, null));
    await following;
    expect(revs()).toEqual([4, 5, 6]);
  });
});

describe('many calls', () => {
  /** Frames of 16 ms; time passes when the test says so. */
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance'],
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const some = (from: number, count: number) => Array.from({ length: count }, (_, n) => call(from + n));

  it('are drawn a few times a second, however many batches bring them, and all are there in the end', async () => {
    const { come } = gate(at(pageOf([call(1)], null, null), 1));
    await model.open({});
    const before = model.version;
    for (let batch = 0; batch < 60; batch += 1) {
      const from = 2 + batch * 8;
      come(some(from, 8), from + 7);
      vi.advanceTimersByTime(16);
    }
    vi.advanceTimersByTime(200);
    expect(model.rows.length).toBe(1 + 60 * 8);
    // 960 ms: at most every 100 ms, and once for the first.
    expect(model.version - before).toBeLessThanOrEqual(11);
    expect(model.version - before).toBeGreaterThanOrEqual(5);
  });

  it('one by one are drawn with the next frame each', async () => {
    const { come } = gate(at(pageOf([call(1)], null, null), 1));
    await model.open({});
    for (const rev of [2, 3, 4]) {
      come([call(rev)], rev);
      vi.advanceTimersByTime(16);
      expect(revs().at(-1)).toBe(rev);
    }
  });

  it('leave no more rows behind than are kept', async () => {
    const { come } = gate(at(pageOf([call(1)], null, null), 1));
    await model.open({});
    for (let rev = 2; rev < 100_000; rev += 50) {
      come(some(rev, 50), rev + 49);
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(200);
    expect(revs().at(-1)).toBe(100_001);
    expect(model.rows.length).toBeLessThanOrEqual(keep + 200);
    expect(model.buffer.known).toBe(model.rows.length);
    expect(model.buffer.indexOf('id-2')).toBe(-1);
  });
});
