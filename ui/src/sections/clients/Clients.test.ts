// The section and the checklist in the whole window, on the in-memory backend.
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import Root from '../../App.svelte';
import { App } from '../../lib/app.svelte';
import { fakeBackend, type FakeBackend, type FakeOptions } from '../../lib/backend/fake';

vi.setConfig({ testTimeout: 60_000 });
// A busy machine needs its time.
configure({ asyncUtilTimeout: 20_000 });

let fake: FakeBackend;

function start(hash: string, options: FakeOptions = {}): App {
  history.replaceState(null, '', hash);
  fake = fakeBackend({ calls: 60, rate: 0, ...options });
  const app = new App(fake);
  render(Root, { props: { app } });
  return app;
}

beforeEach(() => {
  localStorage.clear();
  Element.prototype.scrollIntoView ??= () => undefined;
});
afterEach(() => {
  cleanup();
  fake.world.stop();
});

const card = (id: string) => screen.findByTestId(`client-${id}`);
const row = async (client: string, name: string) => within(await card(client)).getByTestId(`entry-${name}`);
const state = (element: HTMLElement) => within(element).getByTestId('entry-state').textContent?.trim();
const press = async (testid: string, inside: HTMLElement = document.body) =>
  fireEvent.click(await within(inside).findByTestId(testid));
async function answer(testid: string) {
  const yes = await screen.findByTestId(testid);
  await waitFor(() => expect(yes.getAttribute('aria-disabled')).toBe('false'));
  await fireEvent.click(yes);
}
const gated = (client: string) =>
  fake.machine.clients
    .find((one) => one.id === client)!
    .files[0]!.entries.filter((entry) => entry.gated)
    .map((entry) => entry.name);

describe('Clients', () => {
  it('says of each server how it stands, why not, and its name at the gate', async () => {
    start('#/clients');
    expect(state(await row('claude-desktop', 'files'))).toBe('Protected');
    expect(state(await row('cursor', 'postgres'))).toBe('Not protected');
    const linear = await row('claude-desktop', 'linear');
    expect(state(linear)).toBe('Not coverable');
    expect(linear.textContent).toContain('reached over the network');
    expect(within(linear).queryByRole('button')).toBeNull();
    fake.machine.clients.find(({ id }) => id === 'cursor')!.files[0]!.entries[0]!.gated = true;
    await waitFor(async () =>
      expect((await row('cursor', 'files')).textContent).toContain('at the gate: files@cursor'),
    );
    expect((await card('zed')).textContent).toContain('Left alone: it is not valid JSON');
  });

  it('shows what hides in the text of a file', async () => {
    start('#/clients');
    const { textContent } = await card('claude-code');
    expect(textContent).toContain('U+202E');
    expect(textContent).not.toMatch(/[\u202e\u200b\u2066]/);
  });

  it('writes nothing before the diff was seen, and what a running client would lose waits', async () => {
    start('#/clients');
    await press('entry-protect', await row('claude-desktop', 'github'));
    const dialog = await screen.findByTestId('edits-dialog');
    expect((await within(dialog).findByTestId('diff')).textContent).toContain('--client');
    expect(within(dialog).getByTestId('edits-waits').textContent).toContain('Closing its window is not quitting');
    expect(gated('claude-desktop')).toEqual(['files']);
    await answer('edits-yes');
    const queued = await screen.findByTestId('client-queued');
    expect(queued.textContent).toContain('To be protected: github.');
    expect(gated('claude-desktop')).toEqual(['files']);
    expect(state(await row('claude-desktop', 'github'))).toBe('Will be protected');
    await press('client-cancel');
    await waitFor(() => expect(screen.queryByTestId('client-queued')).toBeNull());
    expect(state(await row('claude-desktop', 'github'))).toBe('Not protected');
  });

  it('writes while the client runs only after a question, and then says that the old one still runs', async () => {
    start('#/clients');
    await press('entry-protect', await row('claude-desktop', 'github'));
    await answer('edits-yes');
    await press('client-write-now');
    const yes = await screen.findByTestId('question-yes');
    await waitFor(() => expect(yes.getAttribute('aria-disabled')).toBe('false'));
    await fireEvent.click(screen.getByTestId('question-no'));
    expect(gated('claude-desktop')).toEqual(['files']);
    await press('client-write-now');
    await answer('question-yes');
    const stale = await screen.findByTestId('client-stale');
    expect(stale.textContent).toContain('still runs the old configuration');
    expect(gated('claude-desktop')).toEqual(['files', 'github']);
    await press('reopen-claude-desktop');
    await waitFor(() => expect(screen.queryByTestId('client-stale')).toBeNull());
  });

  it('unprotecting asks once more, and its yes is deaf at first', async () => {
    start('#/clients');
    await press('entry-unprotect', await row('claude-code', 'fetch'));
    const yes = await screen.findByTestId('edits-yes');
    // A busy machine may have let the moment pass.
    if (yes.getAttribute('aria-disabled') === 'true') await fireEvent.click(yes);
    expect(gated('claude-code')).toContain('fetch');
    expect(screen.getByTestId('edits-dialog').textContent).toContain('neither judged nor recorded');
    await answer('edits-yes');
    await waitFor(() => expect(gated('claude-code')).not.toContain('fetch'));
  });

  it('repairs a byte order mark where it is offered, and offers nothing else', async () => {
    start('#/clients');
    const zed = await card('zed');
    expect(within(zed).getAllByTestId('file-problem')).toHaveLength(2);
    const [broken, marked] = within(zed).getAllByTestId('file-problem');
    expect(within(broken!).queryByTestId('file-repair')).toBeNull();
    expect(marked!.textContent).toContain('byte order mark');
    await press('file-repair', marked!);
    await waitFor(async () => expect(within(await card('zed')).getAllByTestId('file-problem')).toHaveLength(1));
    await waitFor(() => expect(document.body.textContent).toContain('Repaired ~/.config/zed/work/settings.json'));
  });

  it('asks before it repairs the file of a client that runs and would write over it', async () => {
    start('#/clients');
    const file = fake.machine.clients[0]!.files[0]!;
    file.problem = 'it begins with a byte order mark';
    file.repairable = true;
    const note = await within(await card('claude-desktop')).findByTestId('file-problem');
    await press('file-repair', note);
    await screen.findByTestId('question-yes');
    await fireEvent.click(screen.getByTestId('question-no'));
    expect(file.repairable).toBe(true);
    await press('file-repair', note);
    await answer('question-yes');
    await waitFor(() => expect(file.repairable).toBe(false));
  });

  it('mends drift, or leaves it and does not ask again', async () => {
    start('#/clients');
    const drift = within(await card('cursor')).getByTestId('drift');
    expect(drift.textContent).toContain('postgres has lost its gate');
    await press('drift-protect', drift);
    await answer('edits-yes');
    await waitFor(() => expect(gated('cursor')).toEqual(['postgres']));
    await waitFor(async () => expect(within(await card('cursor')).queryByTestId('drift')).toBeNull());
    await press('drift-leave', await card('claude-desktop'));
    await waitFor(async () => expect(within(await card('claude-desktop')).queryByTestId('drift')).toBeNull());
    expect(gated('claude-desktop')).toEqual(['files']);
  });

  it('tells what somebody else edited until that is noted', async () => {
    start('#/clients');
    fake.machine.clients.find(({ id }) => id === 'claude-code')!.files[0]!.edited = ['fetch'];
    const drift = await within(await card('claude-code')).findByTestId('drift');
    expect(drift.textContent).toContain('fetch was edited');
    await press('drift-note', drift);
    await waitFor(async () => expect(within(await card('claude-code')).queryByTestId('drift')).toBeNull());
  });

  it('tests a server through the gate and says what it answers, or what to do', async () => {
    start('#/clients');
    const files = await row('claude-desktop', 'files');
    await press('entry-test', files);
    expect((await within(files).findByTestId('entry-answer')).textContent).toContain(
      'answers: secure-filesystem-server 0.2.0, 6 tools',
    );
    const long = await row('claude-code', 'a-server-with-a-rather-long-name-that-does-not-fit-anywhere');
    await press('entry-test', long);
    expect((await within(long).findByTestId('entry-answer')).textContent).toContain('was not found');
  });

  it('an old answer of Test now is gone when the entry was changed since', async () => {
    start('#/clients');
    const files = await row('claude-desktop', 'files');
    await press('entry-test', files);
    await within(files).findByTestId('entry-answer');
    fake.machine.clients[0]!.files[0]!.entries[0]!.args = ['--other'];
    await waitFor(() => expect(within(files).queryByTestId('entry-answer')).toBeNull());
    expect(files.textContent).toContain('--other');
  });

  it('three lost gates are one banner with one way back, not a wall of warnings', async () => {
    start('#/clients');
    const file = fake.machine.clients.find(({ id }) => id === 'cursor')!.files[0]!;
    file.lost = ['files', 'postgres'];
    const cursor = await card('cursor');
    await waitFor(() =>
      expect(within(cursor).getByTestId('drift').textContent).toMatch(/2 servers have lost their gates/),
    );
    expect(state(await row('cursor', 'files'))).toBe('Not protected');
    const back = within(cursor).getByTestId('drift-protect');
    expect(back.textContent).toBe('Put all back');
    await fireEvent.click(back);
    await answer('edits-yes');
    await waitFor(() => expect(gated('cursor')).toEqual(['files', 'postgres']));
  });

  it('after Protect it says what to do next, and Undo takes it back', async () => {
    start('#/clients');
    await press('entry-protect', await row('cursor', 'files'));
    await answer('edits-yes');
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Protected “files” in Cursor.');
    expect(within(toast).getByTestId('toast-next').textContent).toContain(
      fake.machine.clients.find(({ id }) => id === 'cursor')!.reload,
    );
    expect(gated('cursor')).toEqual(['files']);
    await press('undo', toast);
    await waitFor(() => expect(gated('cursor')).toEqual([]));
    await waitFor(() => expect(document.body.textContent).toContain('Undone: Unprotected “files” in Cursor.'));
  });

  it('restores a backup after its diff; while the client runs it waits until it has quit', async () => {
    start('#/clients');
    await press('backups-open', await screen.findByTestId('clients'));
    const list = await screen.findByTestId('backups');
    await fireEvent.click(within(list).getAllByTestId('backup-restore')[0]!);
    const dialog = await screen.findByTestId('restore-dialog');
    await within(dialog).findByTestId('diff');
    expect(within(dialog).getByTestId('restore-waits').textContent).toContain('waits until it has quit');
    await answer('restore-yes');
    await waitFor(() => expect(screen.queryByTestId('restore-dialog')).toBeNull());
    const queued = await screen.findByTestId('client-queued');
    expect(queued.textContent).toContain('To be restored: ~/.config/Claude/claude_desktop_config.json.');
    expect(gated('claude-desktop')).toEqual(['files']);
    fake.machine.quit('claude-desktop');
    expect(gated('claude-desktop')).toEqual([]);
  });

  it('a restore that waits is cancelled as any change is, or written now after a question', async () => {
    start('#/clients');
    const wait = async () => {
      if (!screen.queryByTestId('backups')) await press('backups-open', await screen.findByTestId('clients'));
      const list = await screen.findByTestId('backups');
      await fireEvent.click(within(list).getAllByTestId('backup-restore')[0]!);
      await within(await screen.findByTestId('restore-dialog')).findByTestId('diff');
      await answer('restore-yes');
      await screen.findByTestId('client-queued');
    };
    await wait();
    await press('client-cancel');
    await waitFor(() => expect(screen.queryByTestId('client-queued')).toBeNull());
    expect(fake.machine.clients[0]!.restores).toEqual([]);
    await wait();
    await press('client-write-now');
    expect((await screen.findByTestId('question')).textContent).toContain('claude_desktop_config.json');
    await answer('question-yes');
    await waitFor(() => expect(gated('claude-desktop')).toEqual([]));
    await waitFor(() => expect(screen.queryByTestId('client-queued')).toBeNull());
  });

  it('a gate that the client put back is told, and kept or taken away again', async () => {
    start('#/clients');
    const file = fake.machine.clients.find(({ id }) => id === 'claude-desktop')!.files[0]!;
    const told = async () =>
      within(await card('claude-desktop'))
        .queryAllByTestId('drift')
        .find(({ textContent }) => textContent.includes('put the gate back in front of files'));
    file.back = ['files'];
    await waitFor(async () => expect(await told()).toBeTruthy(), { timeout: 4000 });
    await press('drift-keep', (await told())!);
    await waitFor(async () => expect(await told()).toBeFalsy());
    expect(gated('claude-desktop')).toEqual(['files']);
    file.back = ['files'];
    await waitFor(async () => expect(await told()).toBeTruthy(), { timeout: 4000 });
    await press('drift-unprotect', (await told())!);
    await answer('edits-yes');
    expect((await screen.findByTestId('client-queued')).textContent).toContain('To be unprotected: files.');
    expect(await told(), 'it is on its way').toBeFalsy();
    fake.machine.quit('claude-desktop');
    expect(gated('claude-desktop')).toEqual([]);
  });

  it('without a client it names those that are known; a failure is said, with another try', async () => {
    start('#/clients', { clients: 'none' });
    expect((await screen.findByTestId('no-client')).textContent).toMatch(/Claude Desktop.*Amazon Q/);
    expect(screen.getByTestId('no-client').textContent).toContain('run --server NAME --');
    cleanup();
    start('#/clients', { fail: ['clients'] });
    expect(await screen.findByText('The clients could not be read')).toBeTruthy();
  });

  it('is where the header leads when something lost its gate', async () => {
    const app = start('#/settings');
    fake.world.needs = [{ words: 'postgres lost its gate', fix: { kind: 'openClients' }, server: null, serious: true }];
    await app.refresh();
    await fireEvent.click(within(await screen.findByTestId('need')).getByText('Open clients'));
    expect(location.hash).toBe('#/clients');
    expect(await card('cursor')).toBeTruthy();
  });

  it('opens with the edits where the address asks for them, once', async () => {
    start('#/clients?review=protect');
    await screen.findByTestId('edits-dialog');
    expect(location.hash).toBe('#/clients');
  });
});

describe('Secrets', () => {
  const long = 'a-server-with-a-rather-long-name-that-does-not-fit-anywhere';
  const secrets = (client: string, name: string) =>
    fake.machine.clients
      .find((one) => one.id === client)!
      .files[0]!.entries.find((one) => one.name === name)!
      .secrets.map(({ name, kept }) => `${name} ${kept ? 'kept' : 'plain'}`);

  it('are told by name, with what can be done about them', async () => {
    start('#/clients');
    const plain = within(await row('claude-code', long)).getByTestId('secrets-plain');
    expect(plain.textContent).toContain('2 secrets in plain text: token and TOOLS_SIGNING_KEY_OF_PRODUCTION');
    const kept = within(await row('claude-code', 'fetch')).getByTestId('secrets-kept');
    expect(kept.textContent).toContain('2 secrets in the keychain: FETCH_API_KEY and PROXY_PASSWORD');
    expect(within(kept).queryByTestId('secrets-rebind')).toBeNull();
    const remote = within(await row('claude-desktop', 'linear')).getByTestId('secrets-plain');
    expect(remote.textContent).toContain('No gate can stand before it, so it stays');
    expect(within(remote).queryByRole('button')).toBeNull();
    // Only behind the gate.
    const open = await row('claude-desktop', 'github');
    expect(within(open).queryByTestId('secrets-move')).toBeNull();
    expect(within(open).getByTestId('secrets-plain').textContent).toMatch(/protect the\s+server first/);
  });

  it('move after their names and the lines that change were seen, and no is no', async () => {
    start('#/clients');
    await press('secrets-move', await row('claude-code', long));
    const dialog = await screen.findByTestId('secrets-dialog');
    expect((await within(dialog).findByTestId('secrets-names')).textContent).toContain('token argument, 36 characters');
    expect((await within(dialog).findByTestId('diff')).textContent).toContain('keychain://callgate/…/token');
    expect(dialog.textContent).toMatch(/other programs can\s+see an argument as before/);
    await fireEvent.click(within(dialog).getByTestId('secrets-no'));
    expect(secrets('claude-code', long)).toEqual(['token plain', 'TOOLS_SIGNING_KEY_OF_PRODUCTION plain']);
    await press('secrets-move', await row('claude-code', long));
    await answer('secrets-yes');
    expect((await screen.findByTestId('secrets-waiting')).textContent).toContain('Asking the keychain');
    await waitFor(() => expect(screen.queryByTestId('secrets-dialog')).toBeNull());
    expect(secrets('claude-code', long)).toEqual(['token kept', 'TOOLS_SIGNING_KEY_OF_PRODUCTION kept']);
    expect((await screen.findByTestId('toast')).textContent).toContain('into the keychain.');
    expect(await within(await row('claude-code', long)).findByTestId('secrets-kept')).toBeTruthy();
  });

  it('come back only after a second step that is deaf at first', async () => {
    start('#/clients');
    await press('secrets-back', await row('claude-code', 'fetch'));
    const yes = await screen.findByTestId('secrets-yes');
    // A busy machine may have let the moment pass.
    if (yes.getAttribute('aria-disabled') === 'true') await fireEvent.click(yes);
    expect(secrets('claude-code', 'fetch')).toEqual(['FETCH_API_KEY kept', 'PROXY_PASSWORD kept']);
    expect(screen.getByTestId('secrets-dialog').textContent).toContain('every program of yours can read them');
    await answer('secrets-yes');
    await waitFor(() =>
      expect(secrets('claude-code', 'fetch')).toEqual(['FETCH_API_KEY plain', 'PROXY_PASSWORD plain']),
    );
  });

  it('that are none can be left out, each for itself', async () => {
    start('#/clients');
    await press('secrets-move', await row('claude-code', long));
    const ticks = await screen.findAllByTestId<HTMLInputElement>('secrets-tick');
    expect(ticks.map(({ checked }) => checked)).toEqual([true, true]);
    await fireEvent.click(ticks[0]!);
    await fireEvent.click(ticks[1]!);
    expect(screen.getByTestId('secrets-yes').getAttribute('aria-disabled')).toBe('true');
    await fireEvent.click(ticks[1]!);
    await answer('secrets-yes');
    await waitFor(() =>
      expect(secrets('claude-code', long)).toEqual(['token plain', 'TOOLS_SIGNING_KEY_OF_PRODUCTION kept']),
    );
  });

  it('stay where they are without a keychain, and that is said', async () => {
    start('#/clients', { keychain: 'none' });
    await press('secrets-move', await row('claude-code', long));
    await answer('secrets-yes');
    expect((await screen.findByTestId('secrets-problem')).textContent).toContain('no keychain can be reached here');
    expect(secrets('claude-code', long)).toEqual(['token plain', 'TOOLS_SIGNING_KEY_OF_PRODUCTION plain']);
    await waitFor(() => expect(screen.getByTestId('secrets-yes').getAttribute('aria-disabled')).toBe('false'));
  });

  it('that moved to the keychain are purged from the backups by a button, after a question', async () => {
    start('#/clients');
    await row('claude-code', 'fetch');
    await press('backups-open');
    const purged = vi.spyOn(fake, 'purgeCopies');
    await press('backups-purge');
    expect(purged).not.toHaveBeenCalled();
    await answer('question-yes');
    await waitFor(() => expect(screen.getByTestId('toast').textContent).toMatch(/Purged \d+ cop|No copy held a value/));
    expect(purged).toHaveBeenCalledTimes(1);
  });

  it('of a running client that would write over it wait for a person who insists', async () => {
    start('#/clients');
    fake.machine.clients[0]!.files[0]!.entries.find(({ name }) => name === 'github')!.gated = true;
    await waitFor(async () => expect(state(await row('claude-desktop', 'github'))).toBe('Protected'));
    await press('secrets-move', await row('claude-desktop', 'github'));
    const yes = await screen.findByTestId('secrets-yes');
    expect(yes.getAttribute('aria-disabled')).toBe('true');
    await fireEvent.click(screen.getByTestId('secrets-now'));
    await answer('secrets-yes');
    await waitFor(() => expect(secrets('claude-desktop', 'github')).toEqual(['GITHUB_TOKEN kept']));
  });

  it('that were stored for another command are given to the new one only by a person', async () => {
    start('#/clients');
    fake.machine.clients.find(({ id }) => id === 'claude-code')!.files[0]!.entries[0]!.unbound = true;
    const kept = async () => within(await row('claude-code', 'fetch')).getByTestId('secrets-kept');
    await waitFor(async () => expect((await kept()).textContent).toContain('so it may not be started'));
    await press('secrets-rebind', await kept());
    const dialog = await screen.findByTestId('secrets-dialog');
    await waitFor(() => expect(dialog.textContent).toContain('uvx mcp-server-fetch'));
    await answer('secrets-yes');
    await waitFor(async () => expect((await kept()).textContent).not.toContain('so it may not be started'));
  });
});

describe('The checklist', () => {
  it('says when the clients, or the edits, cannot be read', async () => {
    start('#/welcome', { calls: 0, fail: ['clients'] });
    expect((await screen.findByTestId('checklist-problem')).textContent).toContain('could not be read');
    cleanup();
    start('#/welcome', { calls: 0, fail: ['previewClients'] });
    const step = await screen.findByTestId('step-edits');
    await waitFor(() => expect(step.textContent).toContain('disk is full'));
    expect(screen.queryByTestId('checklist-protect')).toBeNull();
  });

  it('what only waits is undone at once; what is written, after its diff', async () => {
    start('#/welcome', { calls: 0 });
    await press('checklist-protect');
    await screen.findByTestId('reopen-claude-desktop');
    expect(gated('cursor')).toEqual(['files', 'postgres']);
    await press('checklist-undo');
    await answer('edits-yes');
    await waitFor(() => expect(gated('cursor')).toEqual([]));
    await waitFor(() => expect(screen.getByTestId('step-edits').dataset.mark).toBe('now'));
    expect(fake.machine.clients[0]!.queued).toEqual([]);
    expect(screen.queryByTestId('checklist-undo')).toBeNull();
  });

  it('protects all but what was unticked, and nothing when nothing is ticked', async () => {
    start('#/welcome', { calls: 0 });
    await press('checklist-take-cursor-files');
    const yes = await screen.findByTestId('checklist-protect');
    await waitFor(() => expect(yes.textContent).toBe('Protect 3 servers'));
    const open = ['cursor-postgres', 'claude-desktop-files', 'claude-desktop-github'];
    for (const one of open) await press(`checklist-take-${one}`);
    await waitFor(() => expect(screen.getByTestId('checklist-protect').getAttribute('aria-disabled')).toBe('true'));
    await press('checklist-protect');
    expect(gated('cursor')).toEqual([]);
    await press('checklist-take-cursor-postgres');
    await answer('checklist-protect');
    await waitFor(() => expect(gated('cursor')).toEqual(['postgres']));
    expect(fake.machine.clients[0]!.queued).toEqual([]);
  });

  it('still knows what to undo when the window was closed meanwhile', async () => {
    start('#/welcome', { calls: 0 });
    await press('checklist-protect');
    await screen.findByTestId('reopen-claude-desktop');
    cleanup();
    const app = new App(fake);
    render(Root, { props: { app } });
    expect(await screen.findByTestId('checklist-undo')).toBeTruthy();
  });
});
