// Lines for tests.
import type { CallLine, LogEntry, LogPage } from '../lib/backend';
import type { CallEntry } from '../lib/log/key';

export function call(rev: number, more: Partial<CallLine> = {}): CallEntry {
  return {
    kind: 'call',
    rev,
    id: `id-${rev}`,
    atMs: rev * 1_000,
    server: 'files',
    client: 'claude-ai',
    session: 's1',
    tool: 'read_file',
    method: 'tools/call',
    class: null,
    gist: `path=${rev}`,
    decision: 'allowed',
    refused: false,
    rule: null,
    reason: null,
    outcome: 'ok',
    durationUs: 1_000,
    bytes: 10,
    demo: false,
    times: 1,
    firstRev: rev,
    firstMs: rev * 1_000,
    tools: [],
    foldKey: null,
    repeatable: false,
    ...more,
  };
}

export function refusal(rev: number, more: Partial<CallLine> = {}): CallEntry {
  const line = call(rev, { decision: 'denied', refused: true, outcome: 'not_sent', gist: 'path=/secret', ...more });
  return { ...line, foldKey: `${line.session} ${line.decision} ${line.rule}`, ...more };
}

export const change = (id: number): LogEntry => ({
  kind: 'change',
  rev: id,
  id,
  atMs: id * 1_000,
  server: 'files',
  origin: 'window',
  summary: `change ${id}`,
  loosened: false,
  version: 'v2',
  previous: 'v1',
  revertable: true,
});

export const pageOf = (entries: LogEntry[], older: number | null, newer: number | null): LogPage => ({
  entries,
  older,
  newer,
  rev: 0,
});
