// How a server stands, in the words of docs/words.md.
import type { Protection, ServerState } from '../../lib/backend';

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
