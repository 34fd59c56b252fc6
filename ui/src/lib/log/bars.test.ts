import { expect, it } from 'vitest';
import type { LogCount } from '../backend/backend';
import { barWords, rangeOf, slots } from './bars';

const count = (bars: LogCount['bars'], barMs = 60_000): LogCount => ({
  calls: 0,
  refused: 0,
  oldestRev: 1,
  newestRev: 2,
  barMs,
  bars,
  done: true,
});
const bar = (minute: number, passed = 1) => ({ fromMs: minute * 60_000, passed, refused: 1, capped: 2 });

it('empty stretches are there, and no call is lost or moved', () => {
  const chart = slots(count([bar(100), bar(140, 5)]), 141 * 60_000, 90);
  expect(chart.bars).toHaveLength(42);
  expect(chart.bars.filter((one) => one.passed > 0).map((one) => one.fromMs / 60_000)).toEqual([100, 140]);
});

it('too many bars are put together', () => {
  const bars = Array.from({ length: 500 }, (_, at) => bar(1_000 + at));
  const chart = slots(count(bars), 1_500 * 60_000, 90);
  expect(chart.bars.length).toBeLessThanOrEqual(90);
  expect(chart.bars.reduce((sum, one) => sum + one.passed + one.refused + one.capped, 0)).toBe(500 * 4);
});

it('one lone call is a bar and not a wall', () => {
  expect(slots(count([bar(100)]), 100 * 60_000, 90).bars.length).toBeGreaterThanOrEqual(12);
});

it('a range covers the bars it was drawn over, in either direction', () => {
  const chart = slots(count([bar(100), bar(140)]), 140 * 60_000, 90);
  expect(rangeOf(chart, 3, 1)).toEqual([101 * 60_000, 104 * 60_000]);
  expect(rangeOf(chart, 0, 999)).toBeNull();
});

it.each([
  [60_000, 'per minute'],
  [900_000, 'per 15 minutes'],
  [86_400_000, 'per day'],
  [5_400_000, 'per 1.5 hours'],
])('%i is %s', (ms, words) => expect(barWords(ms)).toBe(words));
