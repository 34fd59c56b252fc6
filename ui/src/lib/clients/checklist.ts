// The first run as one list: what is done, what is next. A function of what is there now, so that it is true however it came
// about: by this window, in a terminal, or by a client that quit on its own.
import type { ClientEntry, ClientView, EntryKey, ServerView, SessionView } from '../backend';
import { allEntries, applicable, entriesOf, keyText, queuedFor, waiting as changesOf } from './entries';
import { knownClients } from './known';
import { takesUpByItself } from './words';

export type StepId = 'found' | 'edits' | 'quit' | 'written' | 'started' | 'connected' | 'called';
export type Mark = 'done' | 'now' | 'later';

export interface Started {
  view: ClientView;
  /** "runs" with the new configuration, "old" with the old one; "unknown" where it cannot be told. */
  how: 'runs' | 'old' | 'off' | 'unknown';
  done: boolean;
}

export interface Connected {
  entry: ClientEntry;
  view: ClientView;
  done: boolean;
}

export interface Checklist {
  marks: Record<StepId, Mark>;
  /** What a press on Protect would be about. */
  open: EntryKey[];
  /** Clients for which something waits. */
  waiting: ClientView[];
  started: Started[];
  connected: Connected[];
  /** The newest session with a call. */
  called: SessionView | null;
  /** What was protected here and still is, or waits to be: what Undo takes back. */
  undoable: EntryKey[];
  allDone: boolean;
}

/** Sessions of this entry's server by this entry's client. Tests of our own do not count, nor does another known client. */
export function sessionsOf(servers: readonly ServerView[], entry: ClientEntry): SessionView[] {
  const name = entry.server;
  if (name === null) return [];
  const known = new Set(knownClients.map(({ id }) => id));
  const its = ({ demo, client }: SessionView) =>
    !demo &&
    (client === null ||
      client === entry.key.client ||
      (!known.has(client) && !client.toLowerCase().startsWith('callgate')));
  return servers.filter((server) => server.name === name).flatMap((server) => server.sessions.filter(its));
}

/** `ours`: what was protected from this list. */
export function checklist(
  clients: readonly ClientView[] | null,
  servers: readonly ServerView[],
  ours: readonly EntryKey[],
): Checklist {
  const views = clients ?? [];
  const open = applicable(views, 'protect');
  const waiting = views.filter((view) => changesOf(view) > 0);
  const gated = allEntries(views).filter((entry) => entry.state === 'protected');
  const mine = new Set(ours.map(keyText));
  const undoable = views.flatMap((view) =>
    entriesOf(view)
      .filter((entry) => mine.has(keyText(entry.key)))
      .filter((entry) => {
        const queued = queuedFor(view, entry.key)?.act;
        return queued === 'protect' || (entry.state === 'protected' && queued !== 'unprotect');
      })
      .map((entry) => entry.key),
  );

  const connected = views.flatMap((view) =>
    entriesOf(view)
      .filter((entry) => entry.state === 'protected')
      // Once seen it stays seen: not all of them have to run at once.
      .map((entry) => ({
        entry,
        view,
        done: sessionsOf(servers, entry).some((session) => session.end !== 'failed_to_start'),
      })),
  );
  const talks = (view: ClientView) =>
    entriesOf(view).some((entry) => sessionsOf(servers, entry).some((session) => session.endedMs === null));
  const started = views
    .filter((view) => entriesOf(view).some((entry) => entry.state === 'protected'))
    .map((view): Started => {
      if (view.stale) return { view, how: 'old', done: false };
      // Whoever talks through the gate runs with it, also where its program is not known to us.
      if (view.running || talks(view)) return { view, how: 'runs', done: true };
      if (view.running !== null) return { view, how: 'off', done: false };
      // What takes its file up by itself has nothing left to be done to it.
      return { view, how: 'unknown', done: takesUpByItself(view) };
    });
  const called =
    gated
      .flatMap((entry) => sessionsOf(servers, entry))
      .filter((session) => session.calls > 0)
      .sort((a, b) => b.startedMs - a.startedMs)[0] ?? null;

  const promised = views.some((view) => view.queued.some((change) => change.act === 'protect'));
  // What stays open after a press was refused, or left open by choice: it does not keep the rest from going on.
  const chosen = undoable.length > 0 || (open.length === 0 && (gated.length > 0 || promised));
  const written = chosen && waiting.length === 0 && gated.length > 0;
  const all = <T extends { done: boolean }>(list: readonly T[]) => list.length > 0 && list.every((one) => one.done);
  const mark = (done: boolean, now: boolean): Mark => (done ? 'done' : now ? 'now' : 'later');
  const marks: Record<StepId, Mark> = {
    found: mark(views.length > 0, true),
    edits: mark(chosen, open.length > 0),
    quit: mark(written, waiting.length > 0),
    written: mark(written, chosen && waiting.length === 0),
    started: mark(written && all(started), written),
    connected: mark(written && all(connected), written),
    called: mark(written && called !== null, written),
  };
  return {
    marks,
    open,
    waiting,
    started,
    connected,
    called,
    undoable,
    allDone: Object.values(marks).every((one) => one === 'done'),
  };
}
