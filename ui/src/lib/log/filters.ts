// What the log shows, as the address says it: "?q=token&server=files&decision=denied,capped&last=1h".
import type { Decision, CallFilter, Only } from '../backend/backend';

export interface Filters {
  text: string;
  server: string | null;
  client: string | null;
  tool: string | null;
  decisions: Decision[];
  /** Only calls that got to their server and ended with an error, or without an answer. */
  failed: boolean;
  /** Only calls that a person was asked about and decided. */
  byPerson: boolean;
  session: string | null;
  only: Only | null;
  /** A range that moves with the clock: one of `presets`. */
  last: Preset | null;
  sinceMs: number | null;
  untilMs: number | null;
}

export const presets = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type Preset = keyof typeof presets;
export const presetWords: Record<Preset, string> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};

export const everything: Filters = {
  text: '',
  server: null,
  client: null,
  tool: null,
  decisions: [],
  failed: false,
  byPerson: false,
  session: null,
  only: null,
  last: null,
  sinceMs: null,
  untilMs: null,
};

export const decisions: Decision[] = [
  'allowed',
  'denied',
  'capped',
  'hidden',
  'paused',
  'malformed',
  'broken',
  'unrecorded',
  'unsupported',
  'would_deny',
  'stopped',
  'asked',
];

/** With "failed" or without. What was refused cannot have failed: asking for both would show nothing for ever. */
export function askFailed(filters: Filters, failed: boolean): Filters {
  const rest = failed ? filters.decisions.filter((one) => !refusals.includes(one)) : filters.decisions;
  return { ...filters, only: null, failed, decisions: rest };
}

/** All that did not get to their server. */
export const refusals: Decision[] = decisions.filter((one) => one !== 'allowed' && one !== 'would_deny');

const onlies: Only[] = ['calls', 'changes', 'events'];

export function readFilters(query: URLSearchParams): Filters {
  const time = (name: string) => {
    const value = query.get(name);
    return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
  };
  const named = query.get('decision')?.split(',') ?? [];
  const last = query.get('last');
  const only = query.get('only');
  return {
    text: query.get('q') ?? '',
    server: query.get('server') || null,
    client: query.get('client') || null,
    tool: query.get('tool') || null,
    decisions: decisions.filter((one) => named.includes(one)),
    failed: query.get('ended') === 'failed',
    byPerson: query.get('by') === 'person',
    session: query.get('session') || null,
    only: onlies.find((one) => one === only) ?? null,
    last: last !== null && Object.hasOwn(presets, last) ? (last as Preset) : null,
    sinceMs: time('since'),
    untilMs: time('until'),
  };
}

export function writeFilters(filters: Filters, query = new URLSearchParams()): URLSearchParams {
  const set = (name: string, value: string | number | null) =>
    value === null || value === '' ? query.delete(name) : query.set(name, String(value));
  set('q', filters.text);
  set('server', filters.server);
  set('client', filters.client);
  set('tool', filters.tool);
  set('decision', filters.decisions.join(','));
  set('ended', filters.failed ? 'failed' : null);
  set('by', filters.byPerson ? 'person' : null);
  set('session', filters.session);
  set('only', filters.only);
  set('last', filters.last);
  set('since', filters.sinceMs);
  set('until', filters.untilMs);
  return query;
}

export const isEverything = (filters: Filters): boolean => writeFilters(filters).size === 0;

/** For the host. A range that moves with the clock is fixed here, to the minute, so that the same question stays the same. */
export function toCallFilter(filters: Filters, nowMs: number): CallFilter {
  const moving = filters.last && Math.floor(nowMs / 60_000) * 60_000 - presets[filters.last];
  return {
    text: filters.text.trim() || null,
    server: filters.server,
    client: filters.client,
    tool: filters.tool,
    decisions: filters.decisions,
    failed: filters.failed,
    byPerson: filters.byPerson,
    session: filters.session,
    sinceMs: moving ?? filters.sinceMs,
    untilMs: filters.untilMs,
    only: filters.only,
  };
}
