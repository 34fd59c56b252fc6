// How a server stands, in the words of docs/words.md.
import type { LeftoverView, Protection, ServerState, ServerView, StandView } from '../../lib/backend';
import { ago, count } from '../../lib/format';

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

export const serverStates: Record<ServerState, string> = {
  running: 'running',
  stopped: 'stopped',
  neverStarted: 'never started',
};

/** How a server stands whose client is connected. */
const stands: Record<StandView, string> = {
  running: 'running',
  starting: 'starting',
  stopped: 'stopped by you',
  down: 'crash loop',
};

/** Every client that is connected waits for a person to start it. */
export function isStill(server: ServerView): boolean {
  const connected = server.sessions.filter((one) => one.endedMs === null);
  return connected.length > 0 && connected.every((one) => one.stand === 'stopped' || one.stand === 'down');
}

/** How a server stands: as the worst off of its connected clients sees it. */
export function stateWord(server: ServerView): string {
  const connected = server.sessions.filter((one) => one.endedMs === null);
  const worst = (['down', 'stopped', 'starting'] as const).find((stand) =>
    connected.some((one) => one.stand === stand),
  );
  return worst ? stands[worst] : serverStates[server.state];
}

const ends: Record<string, string> = {
  client_closed: 'closed by the client',
  server_ended: 'the server ended',
  signal: 'ended by a signal',
  failed_to_start: 'failed to start',
  lost: 'found dead later',
};

/** Why a session ended; what is not known is shown as it is on record. */
export function endWords(end: string | null): string {
  if (end === null) return 'ended';
  return ends[end] ?? end.replaceAll('_', ' ');
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
};

export function happening(kind: string): { word: string; tone: Tone } {
  return happenings[kind] ?? { word: kind.replaceAll('_', ' '), tone: 'plain' };
}

/** "12 browser processes of a session of playwright that ended 2 d ago". */
export function leftover(left: LeftoverView, nowMs: number): string {
  const all = left.processes.length;
  const what = left.browsers > 0 && left.browsers === all ? 'browser process' : 'process';
  const whose = left.server === null ? 'a session' : `a session of ${left.server}`;
  const when = left.endedMs === null ? '' : ` ${ago(left.endedMs, nowMs)}`;
  return `${count(all, what, `${what}es`)} of ${whose} that ended${when}`;
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
