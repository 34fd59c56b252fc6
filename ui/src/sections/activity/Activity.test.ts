// The section on the made-up gate, without a browser: what is shown and what is asked of the gate.
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import App from '../../App.svelte';
import { App as AppState } from '../../lib/app.svelte';
import { fakeBackend, type FakeBackend } from '../../lib/backend/fake';

// A busy machine needs its time to compile the sections.
vi.setConfig({ testTimeout: 60_000 });

let backend: FakeBackend;
let app: AppState;

function show(hash: string, options: Parameters<typeof fakeBackend>[0] = {}) {
  history.replaceState(null, '', hash);
  backend = fakeBackend({ calls: 300, rate: 0, ...options });
  app = new AppState(backend);
  return render(App, { app });
}

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  backend.world.stop();
});

const rows = () => screen.getAllByTestId('row');

/** Opens a call that was let through. */
async function openFree() {
  await waitFor(() => expect(rows().length).toBeGreaterThan(5));
  const free = rows().find((row) => row.dataset.decision === 'allowed')!;
  app.router.go(`#/activity?call=${free.dataset.call}`);
  await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain(free.dataset.call));
}

describe('Activity', () => {
  it('shows rows, and the status of the gate', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await waitFor(() => expect(screen.getByTestId('status').textContent).toMatch(/servers, .* calls today/));
    await waitFor(() => expect(document.body.dataset.ready).toBe('1'));
  });

  it('says the next step when there is nothing', async () => {
    show('#/activity', { calls: 0 });
    expect(await screen.findByText('No calls yet')).toBeTruthy();
    expect(screen.getByText('Get started')).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    show('#/activity', { fail: ['logPage'] });
    expect(await screen.findByText('The log cannot be read')).toBeTruthy();
    expect(screen.getByText(/Free some space/)).toBeTruthy();
    expect(screen.getByText('Try again')).toBeTruthy();
  });

  it('shows a call that the address asks for, with hostile text marked', async () => {
    show('#/activity');
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const call = backend.world.makeCall(
      session,
      tool,
      { url: 'https://a\u202eb<img src=x onerror=alert(1)>' },
      Date.now(),
      false,
    );
    app.router.go(`#/activity?call=${call.id}`);
    const drawer = await screen.findByTestId('drawer');
    await waitFor(() => expect(drawer.textContent).toContain('U+202E'));
    expect(drawer.textContent).toContain('<img src=x onerror=alert(1)>');
    expect(drawer.querySelector('img')).toBeNull();
  });

  it('blocking refuses the next call of that client, and of no other', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const { world } = backend;
    await backend.restrict({
      kind: 'block',
      target: { server: 'files', tool: 'read_file', client: 'claude-ai' },
      reason: 'no',
    });
    const tool = world.server('files')!.tools[0]!;
    const by = (client: string) =>
      world.sessions.find((one) => one.server === 'files' && one.client === client && one.endedMs === null)!;
    expect(world.makeCall(by('claude-ai'), tool, { path: '/x' }, Date.now(), false)).toMatchObject({
      decision: 'denied',
      reason: 'no',
    });
    expect(world.makeCall(by('cursor-vscode'), tool, { path: '/x' }, Date.now(), false).decision).toBe('allowed');
    await waitFor(() => expect(rows().some((row) => row.dataset.decision === 'denied')).toBe(true));
  });

  it('keys act on the call in the drawer, once, and on none while runs are shown', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const acts = vi.spyOn(backend, 'restrict');
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const call = backend.world.makeCall(session, tool, { url: 'https://a.example' }, Date.now(), false);
    // Some other row is chosen; then a notification opens this call.
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(document.body, { key: 'k' });
    app.router.go(`#/activity?call=${call.id}`);
    await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain(call.id));
    await fireEvent.keyDown(document.body, { key: 'b' });
    await fireEvent.keyDown(document.body, { key: 'b', repeat: true });
    expect(acts.mock.calls.map(([one]) => one)).toEqual([
      { kind: 'block', target: { server: call.server, tool: call.tool, client: call.client }, reason: null },
    ]);
    app.router.go(`#/activity?view=runs&call=${call.id}`);
    await screen.findByTestId('runs');
    await fireEvent.keyDown(document.body, { key: 'b' });
    expect(acts).toHaveBeenCalledTimes(1);
  });

  it('undo pressed twice sends its token once', async () => {
    show('#/activity');
    await openFree();
    const undone = vi.spyOn(backend, 'undo');
    await fireEvent.keyDown(document.body, { key: 'h' });
    const button = await screen.findByTestId('undo');
    expect(screen.queryByTestId('reason')).toBeNull();
    void fireEvent.click(button);
    void fireEvent.click(button);
    await fireEvent.keyDown(document.body, { key: 'u' });
    await waitFor(() => expect(screen.queryByTestId('undo')).toBeNull());
    expect(undone).toHaveBeenCalledTimes(1);
  });

  it('a search typed just before leaving does not call back', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await fireEvent.input(screen.getByTestId('search'), { target: { value: 'read' } });
    app.router.go('#/settings');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(location.hash).toBe('#/settings');
  });

  it('the menu key shows what can be done about the chosen row', async () => {
    show('#/activity');
    await openFree();
    await fireEvent.keyDown(document.body, { key: '.' });
    expect(await screen.findByTestId('menu-cap')).toBeTruthy();
    expect(screen.getByTestId('menu-hide')).toBeTruthy();
  });
});
