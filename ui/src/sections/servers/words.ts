// How a server stands, in the words of docs/words.md.
import type { LeftoverView, Overview, Protection, ServerView, SessionView, StandView } from '../../lib/backend';
import { knownAs } from '../../lib/clients/known';
import { ago, count, when } from '../../lib/format';

export type Tone = 'calm' | 'plain' | 'warn' | 'refused';

export const protections: Record<Protection, { word: string; means: string; tone: Tone }> = {
  enforcing: { word: 'Enforcing', means: 'Its rules refuse what they say.', tone: 'calm' },
  watchOnly: {
    word: 'Watch-only',
    means: 'Its rules deny nothing: calls are recorded, and perhaps capped.',
    tone: 'plain',
  },
  observed: { word: 'Observed', means: 'Its rules are set aside for a while: nothing is refused.', tone: 'warn' },
  paused: { word: 'Paused', means: 'Every call is refused until it is resumed.', tone: 'warn' },
  broken: { word: 'Broken', means: 'Its policy cannot be used: every call is refused.', tone: 'refused' },
};

/** How the server of a session stands while its client is connected. */
export function standing(session: SessionView): { word: string; tone: Tone } {
  switch (session.stand) {
    case 'running':
      return { word: 'running', tone: 'calm' };
    case 'starting':
      return { word: 'starting', tone: 'plain' };
    case 'stopped':
      // What a person stopped needs no reason beside it.
      return session.standWords === null
        ? { word: 'stopped by you', tone: 'plain' }
        : { word: 'ended by its limits', tone: 'warn' };
    case 'down':
      return { word: 'crash loop', tone: 'refused' };
  }
}

const connected = (server: ServerView) => server.sessions.filter((one) => one.endedMs === null);
const isStillIn = (session: SessionView) => session.stand === 'stopped' || session.stand === 'down';

/** A client that is connected waits for a person to start it. */
export function isStill(server: ServerView): boolean {
  return connected(server).some(isStillIn);
}

/** There is something to stop, for a client that is connected. */
export function isUp(server: ServerView): boolean {
  return connected(server).some((one) => !isStillIn(one));
}

const worst: readonly StandView[] = ['down', 'stopped', 'starting', 'running'];

/** How a server stands: as the worst off of its connected clients sees it; without one, how its last session ended. */
export function stateOf(server: ServerView): { word: string; tone: Tone } {
  const [first] = connected(server).sort((a, b) => worst.indexOf(a.stand) - worst.indexOf(b.stand));
  if (first) return standing(first);
  const last = server.sessions[0];
  if (server.state === 'neverStarted' || !last) return { word: 'never started', tone: 'plain' };
  return { word: left[last.end ?? ''] ?? 'not running', tone: 'plain' };
}

/** How a server stands whose last client is gone, where more is to be said than that it does not run. */
const left: Record<string, string> = {
  crashed: 'crashed',
  failed_to_start: 'did not start',
  server_ended: 'ended by itself',
};

/** Since when it runs as it does: a restart begins anew, and what does not run has no such time. */
export function runningSince(server: ServerView): number | null {
  const all = connected(server);
  if (all.length === 0 || all.some((one) => one.stand !== 'running')) return null;
  return Math.min(...all.map((one) => one.restartedMs ?? one.startedMs));
}

/** What a person has to know about how it stands: each once. `still` is what a start would help. */
export function warnings(server: ServerView): { words: string; still: boolean }[] {
  const found = new Map<string, boolean>();
  for (const one of connected(server)) {
    if (one.standWords === null || one.stand === 'starting') continue;
    found.set(one.stand === 'running' ? `Over its limit: ${one.standWords}` : one.standWords, isStillIn(one));
  }
  return [...found].map(([words, still]) => ({ words, still }));
}

/** What ends the pause of a server: of all, of its own, or of the client whose calls are refused. */
export function resumption(
  server: ServerView,
  overview: Pick<Overview, 'pausedAll' | 'pausedServers' | 'needs'> | null,
): { server: string | null; client: string | null } {
  const own = { server: server.name, client: null };
  if (overview?.pausedAll) return { server: null, client: null };
  if (overview === null || overview.pausedServers.includes(server.name)) return own;
  const clients = connected(server).map((one) => knownAs(one.client ?? ''));
  for (const { fix } of overview.needs) {
    if (fix?.kind !== 'resume' || !fix.client || !clients.includes(knownAs(fix.client))) continue;
    if (fix.server === null || fix.server === server.name) return { server: fix.server, client: fix.client };
  }
  return own;
}

const ends: Record<string, string> = {
  client_closed: 'closed by the client',
  server_ended: 'the server ended',
  signal: 'ended by a signal',
  failed_to_start: 'failed to start',
  crashed: 'the server crashed',
  lost: 'found dead later',
};

/** Why a session ended; what is not known is shown as it is on record. */
export function endWords(end: string | null): string {
  if (end === null) return 'ended';
  return ends[end] ?? end.replaceAll('_', ' ');
}

/** "Claude Desktop, from 14:03:27", "Cursor, 12 Nov 14:03, ended". */
export function sessionWords(session: SessionView, nowMs: number): string {
  const began = when(session.startedMs, nowMs);
  const who = knownAs(session.client ?? 'unknown client');
  return session.endedMs === null ? `${who}, from ${began}` : `${who}, ${began}, ended`;
}

/** A share of one core. */
export function share(percent: number | null): string {
  if (percent === null) return '–';
  return `${percent < 10 ? percent.toFixed(1) : String(Math.round(percent))} %`;
}

/** What happened to a server; a kind that is not known is shown as it is on record. */
const happenings: Record<string, { word: string; tone: Tone }> = {
  started: { word: 'Started', tone: 'plain' },
  client_closed: { word: 'Ended', tone: 'plain' },
  signal: { word: 'Ended', tone: 'plain' },
  server_ended: { word: 'Server ended', tone: 'warn' },
  failed_to_start: { word: 'Failed to start', tone: 'refused' },
  lost: { word: 'Gate killed', tone: 'warn' },
  keeper_lost: { word: 'Keeper killed', tone: 'warn' },
  swept: { word: 'Swept', tone: 'plain' },
  restarted: { word: 'Restarted', tone: 'calm' },
  crashed: { word: 'Crashed', tone: 'refused' },
  stopped: { word: 'Stopped', tone: 'plain' },
  limit: { word: 'Over its limit', tone: 'warn' },
  start_failed: { word: 'Failed to start', tone: 'refused' },
  installing: { word: 'Installing', tone: 'plain' },
  noise: { word: 'Noise', tone: 'plain' },
  gap: { word: 'Gap', tone: 'warn' },
  gate_repaired: { word: 'Gate put back', tone: 'calm' },
  gate_contested: { word: 'Gate taken', tone: 'warn' },
};

export function happening(kind: string): { word: string; tone: Tone } {
  const plain = kind.replaceAll('_', ' ');
  return happenings[kind] ?? { word: plain.charAt(0).toUpperCase() + plain.slice(1), tone: 'plain' };
}

/** "12 browser processes of a session of playwright that ended 2 d ago"; "… that was last seen" of one that nobody saw end. */
export function leftover(left: LeftoverView, nowMs: number): string {
  const all = left.processes.length;
  const what = left.browsers > 0 && left.browsers === all ? 'browser process' : 'process';
  const whose = left.server === null ? 'a session' : `a session of ${left.server}`;
  const when =
    left.endedMs !== null
      ? `ended ${ago(left.endedMs, nowMs)}`
      : left.seenMs !== null
        ? `was last seen ${ago(left.seenMs, nowMs)}`
        : 'ended';
  return `${count(all, what, `${what}es`)} of ${whose} that ${when}`;
}

/** The lines that hold a text, however it is written; all of them without one. */
export function matching(text: string, search: string): string {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return text;
  return text
    .split('\n')
    .filter((line) => line.toLowerCase().includes(wanted))
    .join('\n');
}
