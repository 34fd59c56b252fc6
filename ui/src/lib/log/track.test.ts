import { describe, expect, it } from 'vitest';
import { grewEnd, grewFront, height, landed, maxPixels, revAt, rowHeight, spread, visibleRows, wants } from './track';

const whole = { total: 1_000_000, oldestRev: 1, newestRev: 1_000_000, firstRev: 999_801, lastRev: 1_000_000 };

describe('the scroll bar of the whole history', () => {
  it('is as long as a browser can scroll, and no longer', () => {
    const track = spread({ rows: 200, older: true, newer: false }, whole);
    expect(height(track, 200)).toBeLessThanOrEqual(maxPixels + 200 * rowHeight);
    expect(track.above).toBeGreaterThan(maxPixels * 0.99);
    expect(track.below).toBe(0);
  });

  it('is exact when everything is loaded', () => {
    expect(spread({ rows: 20, older: false, newer: false }, { ...whole, total: 20 })).toEqual({ above: 0, below: 0 });
  });

  it('leaves room to scroll into before anything is counted', () => {
    expect(spread({ rows: 20, older: true, newer: true }, null).above).toBeGreaterThan(0);
  });
});

describe('rows do not move before the eye', () => {
  // What is seen is a row's height on the bar less the scrolling: it must stay the same.
  it.each([
    [50_000, 200, true],
    [3_000, 200, true],
    [1_120, 40, true],
    [3_000, 60, false],
    [50_000, -500, true],
  ])('above %i, %i rows more, older: %s', (above, added, older) => {
    const before = { above, below: 500 };
    const { track, shift } = grewFront(before, added, { rows: 400, older, newer: true });
    expect(track.above + added * rowHeight - shift).toBe(above);
    if (!older) expect(track.above).toBe(0);
    else expect(track.above).toBeGreaterThan(0);
  });

  it('what comes at the end moves nothing above', () => {
    expect(grewEnd({ above: 77, below: 9_000 }, 100, { rows: 300, older: true, newer: true })).toEqual({
      above: 77,
      below: 6_200,
    });
    expect(grewEnd({ above: 77, below: 9_000 }, 100, { rows: 300, older: true, newer: false }).below).toBe(0);
  });

  it('after a jump the row is where the bar was let go', () => {
    const { track, shift } = landed(400_000, 100, 1_000_000, { rows: 200, older: true, newer: true });
    expect(track.above + 100 * rowHeight - shift).toBe(400_000);
    expect(height(track, 200)).toBe(1_000_000);
  });

  it('a jump to the very beginning ends at the beginning', () => {
    const { track, shift } = landed(900, 3, 1_000_000, { rows: 200, older: false, newer: true });
    expect(track.above).toBe(0);
    expect(3 * rowHeight - shift).toBe(900);
  });
});

describe('which rows are drawn', () => {
  it.each([
    [0, 280, 0, 1_000, [0, 10]],
    [1_400, 280, 0, 1_000, [50, 60]],
    [1_400, 280, 1_400, 1_000, [0, 10]],
    [0, 280, 5_000, 1_000, [0, 0]],
    [90_000, 280, 0, 100, [100, 100]],
  ] as const)('scrolled to %i of %i, %i above', (top, viewport, above, rows, wanted) => {
    expect(visibleRows(top, viewport, { above, below: 0 }, rows, 0)).toEqual([...wanted]);
  });

  it('never more than the viewport and its margins', () => {
    for (let top = 0; top < 60_000; top += 997) {
      const [from, to] = visibleRows(top, 600, { above: 3_000, below: 0 }, 2_000);
      expect(to - from).toBeLessThanOrEqual(Math.ceil(600 / rowHeight) + 18);
      expect(from).toBeLessThanOrEqual(to);
    }
  });
});

describe('what is asked for', () => {
  const ends = { rows: 1_000, older: true, newer: true };
  const track = { above: 100_000, below: 100_000 };
  it.each([
    [100_100, 'older'],
    [114_000, null],
    [127_800, 'newer'],
    [10_000, 'jump'],
    [190_000, 'jump'],
  ] as const)('scrolled to %i: %s', (top, wanted) => {
    expect(wants(top, 600, track, ends)).toBe(wanted);
  });
  it('nothing beyond the ends', () => {
    expect(wants(0, 600, { above: 0, below: 0 }, { rows: 1_000, older: false, newer: false })).toBeNull();
  });
  it('the bar maps to revs from end to end', () => {
    const of = { oldestRev: 10, newestRev: 1_010 };
    expect(revAt(0, 600, 100_600, of)).toBe(10);
    expect(revAt(100_000, 600, 100_600, of)).toBe(1_010);
    expect(revAt(50_000, 600, 100_600, of)).toBe(510);
    expect(revAt(-5, 600, 100_600, of)).toBe(10);
  });
});
