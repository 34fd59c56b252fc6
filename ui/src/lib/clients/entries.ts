// Entries of clients' files: which is which, how they stand, and what can be done about them. Pure.
import type {
  ClientAct,
  ClientEntry,
  ClientView,
  DriftView,
  EntryKey,
  EntryState,
  QueuedChange,
  ServerView,
} from '../backend';

/** The words of docs/words.md. */
export const stateWords: Record<EntryState, string> = {
  protected: 'Protected',
  tampered: 'Not as protected',
  open: 'Not protected',
  notCoverable: 'Not coverable',
};

/** One text for one entry, for keys and for comparing. */
export const keyText = (key: EntryKey): string => JSON.stringify([key.client, key.path, key.project, key.name]);

export const sameKey = (a: EntryKey, b: EntryKey): boolean => keyText(a) === keyText(b);

export const entriesOf = (view: ClientView): ClientEntry[] => view.files.flatMap((file) => file.entries);

export const allEntries = (views: readonly ClientView[]): ClientEntry[] => views.flatMap(entriesOf);

export function queuedFor(view: ClientView, key: EntryKey): QueuedChange | null {
  return view.queued.find((change) => sameKey(change.entry, key)) ?? null;
}

/** What an act would be about: entries that are not so yet and that do not wait to be. */
export function applicable(views: readonly ClientView[], act: ClientAct): EntryKey[] {
  const from: EntryState[] = ['tampered', act === 'protect' ? 'open' : 'protected'];
  return views.flatMap((view) =>
    entriesOf(view)
      .filter((entry) => from.includes(entry.state) && queuedFor(view, entry.key)?.act !== act)
      .map((entry) => entry.key),
  );
}

export interface Tally {
  clients: number;
  servers: number;
  protected: number;
  open: number;
  notCoverable: number;
}

export function tally(views: readonly ClientView[]): Tally {
  const entries = allEntries(views);
  const of = (state: EntryState) => entries.filter((entry) => entry.state === state).length;
  return {
    clients: views.length,
    servers: entries.length,
    protected: of('protected'),
    open: of('open') + of('tampered'),
    notCoverable: of('notCoverable'),
  };
}

/** An entry as its row shows it: what a test was about. */
export const shownOf = ({ state, server, command, why, secrets }: ClientEntry): string =>
  JSON.stringify([state, server, command, why, secrets]);

/** How many tools its server has, if it ever said so. Before it is protected it goes by its own name, if nobody else does. */
export function toolsOf(
  views: readonly ClientView[],
  servers: readonly ServerView[],
  { server, key }: ClientEntry,
): number | null {
  if (server === null && allEntries(views).some((other) => other.server === key.name)) return null;
  const tools = servers.find(({ name }) => name === (server ?? key.name))?.tools ?? 0;
  return tools > 0 ? tools : null;
}

/** A change to this client's file would be lost now, so that it waits. */
export const wouldWait = (view: ClientView): boolean => view.waits && view.running === true;

/** How many changes wait until the client has quit. */
export const waiting = (view: ClientView): number => view.queued.length + view.restores.length;

/** What drifted in a file and is not on its way to be mended. */
export function unmended(view: ClientView, path: string, { fix }: DriftView): boolean {
  if (fix?.kind === 'restore') return !view.restores.some((one) => one.path === path);
  if (fix?.kind !== 'protect' && fix?.kind !== 'unprotect') return true;
  return !fix.entries.every((key) => queuedFor(view, key)?.act === fix.kind);
}

/** Entries of a fix that can be left as they are: only what is open can stay open. */
export function leavable(view: ClientView, keys: readonly EntryKey[]): boolean {
  const entries = entriesOf(view);
  return (
    keys.length > 0 && keys.every((key) => entries.some((entry) => entry.state === 'open' && sameKey(entry.key, key)))
  );
}
