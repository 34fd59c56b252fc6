// Following the log through bad times: says when it cannot be read and when it can again, and begins anew by itself where the
// host gave up. Knows nothing of rows.
import { BackendError, type Backend, type LogBatch, type CallFilter, type Stop } from '../backend';

/** So long after the host gave up, and twice as long each time again. */
const first = 1_000;
const longest = 30_000;
/** One that did not fail for so long follows. */
const steady = 500;

export interface Followed {
  /** Where to go on from. */
  rev: () => number;
  came: (batch: LogBatch) => void;
  /** Why nothing new can be shown; none once it can again. */
  troubled: (trouble: BackendError | null) => void;
}

export function followOn(backend: Backend, filter: CallFilter, { rev, came, troubled }: Followed): Stop {
  let open = true;
  let wait = first;
  let stop: Stop = () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const well = () => {
    wait = first;
    troubled(null);
  };

  function begin(again: boolean): void {
    let failed = false;
    clearTimeout(timer);
    if (again) timer = setTimeout(well, steady);
    const end = backend.follow(
      filter,
      rev(),
      (batch) => {
        if (!open || failed) return;
        clearTimeout(timer);
        if (batch.problem) return troubled(new BackendError({ code: 'failed', message: batch.problem, detail: null }));
        well();
        came(batch);
      },
      (error) => {
        if (!open || failed || error.code === 'cancelled') return;
        failed = true;
        troubled(error);
        clearTimeout(timer);
        timer = setTimeout(() => begin(true), wait);
        wait = Math.min(longest, wait * 2);
      },
    );
    stop = end;
  }

  begin(false);
  return () => {
    open = false;
    clearTimeout(timer);
    stop();
  };
}
