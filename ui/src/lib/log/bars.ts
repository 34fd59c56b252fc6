// Bars over time: counts leave out empty stretches, a picture must not.
import type { Bar, LogCount } from '../backend/backend';

export interface Chart {
  barMs: number;
  bars: Bar[];
}

/** At most `most` bars without gaps, up to now; bars are put together when there are more. */
export function slots(count: LogCount | null, nowMs: number, most: number): Chart {
  const first = count?.bars[0];
  const last = count?.bars.at(-1);
  if (!count || !first || !last || count.barMs <= 0) return { barMs: 60_000, bars: [] };
  // Old history ends where it ends; a live one goes on to now.
  const end = nowMs - last.fromMs < 30 * count.barMs ? Math.max(nowMs, last.fromMs) : last.fromMs;
  const steps = Math.floor((end - first.fromMs) / count.barMs) + 1;
  // At least a dozen, so that one lone call is a bar and not a wall.
  const wide = Math.max(1, Math.ceil(steps / most));
  const barMs = count.barMs * wide;
  const length = Math.max(12, Math.ceil(steps / wide));
  const start = first.fromMs - (length - Math.ceil(steps / wide)) * barMs;
  const bars = Array.from({ length }, (_, at): Bar => ({
    fromMs: start + at * barMs,
    passed: 0,
    refused: 0,
    capped: 0,
  }));
  for (const bar of count.bars) {
    const slot = bars[Math.floor((bar.fromMs - start) / barMs)];
    if (!slot) continue;
    slot.passed += bar.passed;
    slot.refused += bar.refused;
    slot.capped += bar.capped;
  }
  return { barMs, bars };
}

/** From the start of one bar to the end of the other, whichever comes first. */
export function rangeOf(chart: Chart, a: number, b: number): [number, number] | null {
  const from = chart.bars[Math.min(a, b)];
  const to = chart.bars[Math.max(a, b)];
  return from && to ? [from.fromMs, to.fromMs + chart.barMs] : null;
}

/** "per minute", "per 15 minutes", "per day". */
export function barWords(barMs: number): string {
  const units: [number, string][] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1_000, 'second'],
  ];
  for (const [ms, word] of units) {
    if (barMs < ms) continue;
    const n = Math.round((barMs / ms) * 10) / 10;
    return n === 1 ? `per ${word}` : `per ${n} ${word}s`;
  }
  return 'per second';
}
