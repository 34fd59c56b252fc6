// The only surface on which the window reaches its host: every command of the app (`bindings.ts`, generated from Rust), with its
// errors thrown, and what is followed.
import type * as T from './bindings';

export type * from './bindings';

/** What happened, to what, and what to do now; switch on `code`, never on words. */
export class BackendError extends Error {
  readonly code: T.ErrorCode;
  readonly detail: string | null;

  constructor(error: T.UiError) {
    super(error.message);
    this.name = 'BackendError';
    this.code = error.code;
    this.detail = error.detail;
  }

  /** Whatever was thrown, as the one shape that is shown. */
  static from(thrown: unknown): BackendError {
    if (thrown instanceof BackendError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new BackendError({ code: 'failed', message, detail: null });
  }
}

/** Ends a subscription; nothing arrives after it returned. */
export type Stop = () => void;
type Failed = (error: BackendError) => void;

/** A command as it is called: what it answers, or a `BackendError`. */
type Command<F> = F extends (
  ...args: infer A
) => Promise<{ status: 'ok'; data: infer D } | { status: 'error'; error: T.UiError }>
  ? (...args: A) => Promise<D extends null ? void : D>
  : never;

/** Commands that only make sense one after the other, and are called through a subscription. */
type Steps = 'logCount' | 'stopCount' | 'follow' | 'followed' | 'unfollow' | 'usage' | 'stopUsage';

export type Commands = { [K in Exclude<keyof typeof T.commands, Steps>]: Command<(typeof T.commands)[K]> };

export interface Backend extends Commands {
  /** Counts and bars so far, until one is `done`. A newer count ends an older one. */
  count(filter: T.CallFilter, on: (count: T.LogCount) => void, failed: Failed): Stop;
  /** What comes after this `rev`. A newer follower ends an older one. */
  follow(filter: T.CallFilter, rev: number, on: (batch: T.LogBatch) => void, failed: Failed): Stop;
  /** The last quarter of an hour first, then every two seconds while somebody listens. */
  usage(on: (usages: T.Usage[]) => void, failed: Failed): Stop;
  /** The host wants another place to be shown: an address such as `#/activity?call=<id>`. */
  onNavigate(on: (hash: string) => void): Stop;
}
