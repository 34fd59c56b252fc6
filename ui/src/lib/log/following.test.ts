import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BackendError, type Backend, type LogBatch } from '../backend';
import { followOn } from './following';

const full = { code: 'failed' as const, message: 'The disk is full.', detail: null };
const batch = (rev: number, problem: LogBatch['problem'] = null): LogBatch => ({
  entries: [],
  rev,
  skipped: 0,
  reset: false,
  problem,
});

interface Begun {
  rev: number;
  on: (batch: LogBatch) => void;
  failed: (error: BackendError) => void;
  stopped: boolean;
}

function following() {
  const begun: Begun[] = [];
  const came: number[] = [];
  const troubles: (string | null)[] = [];
  let rev = 1;
  const backend = {
    follow(_filter: object, from: number, on: Begun['on'], failed: Begun['failed']) {
      const one = { rev: from, on, failed, stopped: false };
      begun.push(one);
      return () => (one.stopped = true);
    },
  } as unknown as Backend;
  const stop = followOn(
    backend,
    {},
    {
      rev: () => rev,
      came: (got) => {
        rev = got.rev;
        came.push(got.rev);
      },
      troubled: (trouble) => troubles.push(trouble?.message ?? null),
    },
  );
  return { begun, came, troubles, stop };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a problem of the log is told, and told to be over with the next batch', () => {
  const { begun, came, troubles } = following();
  begun[0]!.on(batch(2));
  begun[0]!.on(batch(2, full.message));
  expect(troubles.at(-1)).toBe('The disk is full.');
  expect(came).toEqual([2]);
  begun[0]!.on(batch(5));
  expect(troubles.at(-1)).toBeNull();
  expect(came).toEqual([2, 5]);
});

test('a host that gives up is asked again, from where it stopped, later each time', () => {
  const { begun, troubles } = following();
  begun[0]!.on(batch(7));
  begun[0]!.failed(new BackendError(full));
  expect(troubles.at(-1)).toBe('The disk is full.');
  vi.advanceTimersByTime(1_000);
  expect(begun.map((one) => one.rev)).toEqual([1, 7]);
  begun[1]!.failed(new BackendError(full));
  vi.advanceTimersByTime(1_900);
  expect(begun).toHaveLength(2);
  vi.advanceTimersByTime(100);
  expect(begun).toHaveLength(3);
  expect(troubles.at(-1)).toBe('The disk is full.');
  vi.advanceTimersByTime(500);
  expect(troubles.at(-1)).toBeNull();
});

test('nothing is asked or told after the end', () => {
  const { begun, came, troubles, stop } = following();
  begun[0]!.failed(new BackendError(full));
  stop();
  const told = troubles.length;
  vi.advanceTimersByTime(60_000);
  begun[0]!.on(batch(9));
  expect(begun).toHaveLength(1);
  expect(came).toEqual([]);
  expect(troubles).toHaveLength(told);
});
