// The overview in the whole window: what is known at once, the way to the gate, and the question before anything starts.
import { screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerStart, SurfaceServer, SurfaceView } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { show, toasts } from '../../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

const counts = { tools: 3, read: 1, write: 0, execute: 1, destructive: 1, financial: 0, critical: 1 };
const none = { tools: 0, read: 0, write: 0, execute: 0, destructive: 0, financial: 0, critical: 0 };
const key = { client: 'cursor', path: '/home/ada/.cursor/mcp.json', project: null, name: 'notes' };
const row: SurfaceServer = {
  name: 'notes',
  server: 'notes',
  entry: key,
  shown: '~/.cursor/mcp.json',
  state: 'open',
  why: null,
  command: 'npx -y notes --token [masked]',
  known: null,
  from: 'nothing',
  listedMs: null,
  classes: none,
  findings: 0,
  watchOnly: false,
};
const view = (rows: SurfaceServer[], more: Partial<SurfaceView> = {}): SurfaceView => ({
  clients: [{ id: 'cursor', name: 'Cursor', servers: rows }],
  words: '3 tools of 1 server, 1 of them critical.',
  total: counts,
  servers: rows.length,
  open: 1,
  unknown: 0,
  unread: [],
  next: { kind: 'protect', words: '1 server starts without the gate: notes in Cursor.', entries: [key], server: null },
  problem: null,
  ...more,
});

describe('Overview', () => {
  it('says of each server what its tools can do, and what is not behind the gate', async () => {
    const known = {
      ...row,
      name: 'play',
      server: 'play',
      from: 'catalogue' as const,
      known: 'Playwright MCP',
      classes: counts,
    };
    desk.answer('surface', view([known, row]));
    show(desk, '#/overview');
    const [play, notes] = await screen.findAllByTestId('surface-server');
    expect(play!.textContent).toContain('3 tools, 1 critical');
    expect(play!.textContent).toContain('By the catalogue: Playwright MCP');
    expect(play!.textContent).toContain('not gated');
    expect(notes!.textContent).toContain('not known yet');
    expect(screen.getByTestId('surface-words').textContent).toContain('1 of them critical');
    expect(screen.getByTestId('class-legend').textContent).toContain('1 Destructive');
  });

  it('starts nothing before a person has seen what starts, and says what came of it', async () => {
    desk.answer('surface', view([row]));
    desk.answer('testServer', { says: null, tools: null, problem: 'it ended before it answered initialize' });
    show(desk, '#/overview');
    (await screen.findByTestId('scan')).click();
    expect((await screen.findByTestId('scan-command')).textContent).toBe(row.command);
    expect(desk.asked('testServer')).toEqual([]);
    screen.getByTestId('scan-yes').click();
    expect((await screen.findByTestId('scan-problem')).textContent).toContain('ended before it answered');
    desk.answer('testServer', { says: 'notes 1', tools: 2, problem: null });
    screen.getByTestId('scan-yes').click();
    await waitFor(() => expect(toasts()).toContain('lists 2 tools'));
    expect(screen.queryByTestId('scan-dialog')).toBeNull();
    expect(desk.asked('testServer')).toEqual([{ entry: key }, { entry: key }]);
  });

  it('what cannot be behind the gate says why, and offers nothing', async () => {
    const far = { ...row, state: 'notCoverable' as const, why: 'reached over the network' };
    desk.answer('surface', view([far], { next: null }));
    show(desk, '#/overview');
    const shown = await screen.findByTestId('surface-server');
    expect(shown.textContent).toContain('reached over the network');
    expect(within(shown).queryByRole('button')).toBeNull();
  });

  it('leads to the first server where there is none', async () => {
    const next = { kind: 'add' as const, words: 'No server is configured.', entries: [], server: null };
    desk.answer('surface', { ...view([]), clients: [], next });
    show(desk, '#/overview');
    expect((await screen.findByText('Add a server…')).closest('a')!.getAttribute('href')).toBe('#/clients?add=server');
  });

  it('names of servers and clients are text, with what they hide', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u202E';
    desk.answer('surface', view([{ ...row, name: hostile, server: hostile, from: 'listed', classes: counts }]));
    show(desk, '#/overview');
    const shown = await screen.findByTestId('surface-server');
    expect(shown.textContent).toContain('U+202E');
    expect(shown.querySelector('img')).toBeNull();
  });
});

const point = (id: string, inForce = false) => ({
  id,
  title: id === 'watch-only' ? 'Watch only' : 'Recommended',
  caption: `All that ${id} refuses.`,
  text: '{}',
  words: id === 'watch-only' ? 'No tool that is known changes its state.' : '2 tools change state; 1 of them was used.',
  changes: id === 'watch-only' ? [] : ['delete_note: allowed → asked'],
  loosened: [],
  inForce,
});
const start: ServerStart = {
  entry: key,
  server: 'notes',
  known: null,
  from: 'listed',
  classes: counts,
  hasRules: false,
  points: [point('watch-only', true), point('recommended')],
};

describe('what a server begins with', () => {
  const file = {
    client: 'cursor',
    clientName: 'Cursor',
    shown: '~/.cursor/mcp.json',
    diff: '+ gate',
    entries: ['notes'],
  };
  async function reviewed(starts: ServerStart[]) {
    desk.answer('surface', view([row]));
    desk.answer('previewClients', { files: [file], refused: [], launch: [] });
    desk.answer('serverStarts', starts);
    desk.answer('changeClients', { act: 'protect', done: [key], waiting: [], refused: [], left: [] });
    const undo = { token: 't', untilMs: Date.now() + 10_000 };
    const done = { words: 'notes begins with “Recommended”', undo, server: 'notes', version: null, endsMs: null };
    desk.answer('beginWith', { kind: 'done', ...done });
    show(desk, '#/overview');
    (await screen.findByTestId('surface-protect')).click();
    await screen.findByTestId('edits-yes');
  }

  it('is chosen before the gate is put there, with what it changes, and in force after', async () => {
    await reviewed([start]);
    expect(screen.queryByTestId('starts-what')).toBeNull();
    screen.getByTestId('starts-recommended').click();
    expect((await screen.findByTestId('starts-what')).textContent).toContain('2 tools change state');
    screen.getByTestId('edits-yes').click();
    await waitFor(() => expect(toasts()).toContain('notes begins with'));
    expect(desk.asked('beginWith')).toEqual([{ server: 'notes', point: start.points[1] }]);
  });

  it('is what counts now, unless somebody chooses', async () => {
    await reviewed([start]);
    screen.getByTestId('edits-yes').click();
    await waitFor(() => expect(desk.asked('changeClients')).toHaveLength(1));
    expect(desk.asked('beginWith')).toEqual([]);
  });

  it('never refuses more than its caption says of a server that nobody knows, and leaves rules that are there', async () => {
    const unknown = { ...start, server: 'other', points: [point('watch-only', true)] };
    await reviewed([start, unknown, { ...start, server: 'kept', hasRules: true }]);
    expect(screen.getByTestId('starts-kept').textContent).toContain('kept');
    screen.getByTestId('starts-recommended').click();
    expect((await screen.findByTestId('starts-unknown')).textContent).toContain('would refuse more than it says');
    screen.getByTestId('edits-yes').click();
    await waitFor(() => expect(desk.asked('beginWith')).toHaveLength(1));
  });
});
