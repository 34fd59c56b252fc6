import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Backend, SinceLastLook } from './backend';
import { Look } from './look.svelte';

const minute = 60_000;
const since = (ago: number, refused: number): SinceLastLook => ({
  sinceMs: Date.now() - ago,
  calls: 3,
  refused,
  changes: 0,
  ended: 0,
  loops: 0,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function said(news: SinceLastLook): Promise<SinceLastLook | null> {
  const backend = { sinceLastLook: async () => news, looked: async () => undefined } as unknown as Backend;
  const look = new Look(backend);
  const stop = look.start();
  await vi.advanceTimersByTimeAsync(1);
  stop();
  return look.since;
}

it('who looked away for a moment is told nothing, unless something was refused', async () => {
  expect(await said(since(12_000, 0))).toBeNull();
  expect(await said(since(12_000, 1))).not.toBeNull();
  expect(await said(since(5 * minute, 0))).not.toBeNull();
});
