// The app's commands, as Tauri brings them to the window.
import { Channel } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import { BackendError, type Backend, type Commands, type Stop } from './backend';
import { commands, type LogBatch, type LogCount, type CallFilter, type UiError, type Usage } from './bindings';

type Answered<T> = Promise<{ status: 'ok'; data: T } | { status: 'error'; error: UiError }>;

async function data<T>(answered: Answered<T>): Promise<T> {
  const answer = await answered;
  if (answer.status === 'ok') return answer.data;
  throw new BackendError(answer.error);
}

/** One kind of subscription, of which the host keeps only the newest. Start and stop have to reach it in the order in which
 *  they were called, or an old end stops a new start. One that answers only at its end is not waited for: it could not be
 *  stopped then. */
function subscription<M>(answersAtOnce: boolean) {
  let queue: Promise<unknown> = Promise.resolve();
  let newest = 0;

  function inOrder<T>(ask: () => Promise<T>): Promise<T> {
    const next = queue.then(ask, ask);
    queue = next.catch(() => undefined);
    return next;
  }

  return (
    start: (channel: Channel<M>) => Answered<null>,
    end: () => Answered<null>,
    on: (message: M) => void,
    failed: (error: BackendError) => void,
  ): Stop => {
    const mine = ++newest;
    let open = true;
    const channel = new Channel<M>();
    channel.onmessage = (message) => open && on(message);
    const sent = inOrder(async () => {
      const answered = start(channel);
      if (answersAtOnce) await answered;
      return { answered };
    });
    sent
      .then(({ answered }) => data(answered))
      .catch((thrown) => {
        const error = BackendError.from(thrown);
        // Superseded by a newer question: not an error, there is just nothing more to come.
        if (open && error.code !== 'cancelled') failed(error);
      });
    return () => {
      if (!open) return;
      open = false;
      // A newer one has ended this one already.
      void inOrder(async () => {
        if (mine === newest) await end();
      }).catch(() => undefined);
    };
  };
}

/** Batch by batch, the next one when the last one was taken: what this page cannot keep up with does not pile up before it.
 *  Starts have to reach the host in the order in which they were called, or an old one ends a newer one. */
function followed() {
  let starts: Promise<unknown> = Promise.resolve();

  return (
    filter: CallFilter,
    rev: number,
    on: (batch: LogBatch) => void,
    failed: (error: BackendError) => void,
  ): Stop => {
    let open = true;
    const begun = starts.then(() => (open ? data(commands.follow(filter, rev)) : null));
    starts = begun.catch(() => undefined);

    async function listen(): Promise<void> {
      const follower = await begun;
      while (open && follower !== null) {
        const batch = await data(commands.followed(follower));
        if (open) on(batch);
      }
    }
    listen().catch((thrown) => {
      const error = BackendError.from(thrown);
      // Superseded by a newer one: not an error, there is just nothing more to come.
      if (open && error.code !== 'cancelled') failed(error);
    });
    return () => {
      if (!open) return;
      open = false;
      const end = async () => {
        const follower = await begun;
        if (follower !== null) await commands.unfollow(follower);
      };
      end().catch(() => undefined);
    };
  };
}

const counting = subscription<LogCount>(false);
const following = followed();
const sampling = subscription<Usage[]>(true);

/** Every command, with what it answers unwrapped. */
const plain = Object.fromEntries(
  Object.entries(commands).map(([name, command]) => [
    name,
    (...args: unknown[]) => data((command as (...args: unknown[]) => Answered<unknown>)(...args)),
  ]),
) as unknown as Commands;

export function tauriBackend(): Backend {
  return {
    ...plain,
    count: (filter, on, failed) =>
      counting((channel) => commands.logCount(filter, channel), commands.stopCount, on, failed),
    follow: following,
    usage: (on, failed) => sampling((channel) => commands.usage(channel), commands.stopUsage, on, failed),
    onNavigate(on) {
      const listening = listen<string>('navigate', (event) => on(event.payload));
      return () => void listening.then((stop) => stop());
    },
  };
}
