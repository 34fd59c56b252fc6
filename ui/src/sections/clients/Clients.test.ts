// The section and the checklist in the whole window.
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ClientChange, ClientEntry, ClientView, DriftView, EntryKey } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { accept, press, show, toasts } from '../../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

const card = (id: string) => screen.findByTestId(`client-${id}`);
const row = async (client: string, name: string) => within(await card(client)).findByTestId(`entry-${name}`);
const state = (element: HTMLElement) => within(element).getByTestId('entry-state').textContent?.trim();

/** What the desk says of one client from now on. */
function client(id: string, change: (view: ClientView) => void): ClientView {
  const views = desk.recorded('clients');
  const view = views.find((one) => one.id === id)!;
  change(view);
  desk.answer('clients', views);
  return view;
}
const entryOf = (view: ClientView, name: string): ClientEntry =>
  view.files.flatMap(({ entries }) => entries).find(({ key }) => key.name === name)!;
const keyOf = (id: string, name: string): EntryKey =>
  entryOf(
    desk.recorded('clients').find((one) => one.id === id)!,
    name,
  ).key;
const change = (done: EntryKey[], more: Partial<ClientChange> = {}): ClientChange => ({
  act: 'protect',
  done,
  waiting: [],
  refused: [],
  left: [],
  ...more,
});
const drifted = (id: string, drift: DriftView[]) => client(id, (view) => (view.files[0]!.drift = drift));

describe('Clients', () => {
  it('says of each server how it stands, why not, and its name at the gate', async () => {
    client('cursor', (view) =>
      Object.assign(entryOf(view, 'files'), {
        state: 'protected',
        server: 'files@cursor',
      } satisfies Partial<ClientEntry>),
    );
    show(desk, '#/clients');
    expect(state(await row('claude-desktop', 'files'))).toBe('Protected');
    expect(state(await row('cursor', 'postgres'))).toBe('Not protected');
    const linear = await row('claude-desktop', 'linear');
    expect(state(linear)).toBe('Not coverable');
    expect(linear.textContent).toContain('reached over the network');
    expect(within(linear).queryByRole('button')).toBeNull();
    expect((await row('cursor', 'files')).textContent).toContain('at the gate: files@cursor');
    expect((await card('zed')).textContent).toContain('is not valid JSON');
  });

  it('shows what hides in the text of a file', async () => {
    show(desk, '#/clients');
    const { textContent } = await card('claude-code');
    expect(textContent).toContain('U+202E');
    expect(textContent).not.toMatch(/[\u202e\u200b\u2066]/);
  });

  it('writes nothing before the diff was seen, and what a running client would lose waits', async () => {
    const key = keyOf('claude-desktop', 'github');
    desk.answer('changeClients', () => {
      client('claude-desktop', (view) => {
        view.queued = [{ act: 'protect', byItself: false, entry: key, sinceMs: Date.now() }];
      });
      return change([], { waiting: [key] });
    });
    show(desk, '#/clients');
    await press('entry-protect', await row('claude-desktop', 'github'));
    const dialog = await screen.findByTestId('edits-dialog');
    expect((await within(dialog).findAllByTestId('diff'))[0]!.textContent).toContain('--client');
    expect(within(dialog).getByTestId('edits-waits').textContent).toContain('Closing its window is not quitting');
    expect(desk.asked('changeClients')).toEqual([]);
    await accept('edits-yes');
    const queued = await screen.findByTestId('client-queued');
    expect(queued.textContent).toContain('To be protected: github.');
    expect(desk.asked('changeClients')).toEqual([{ act: 'protect', entries: [key], now: false }]);
    expect(state(await row('claude-desktop', 'github'))).toBe('Will be protected');
    desk.answer('dropQueued', () => desk.mend('clients'));
    await press('client-cancel');
    await waitFor(() => expect(screen.queryByTestId('client-queued')).toBeNull());
    expect(state(await row('claude-desktop', 'github'))).toBe('Not protected');
  });

  it('writes while the client runs only after a question, and then says that the old one still runs', async () => {
    const key = keyOf('claude-desktop', 'github');
    client('claude-desktop', (view) => {
      view.queued = [{ act: 'protect', byItself: false, entry: key, sinceMs: Date.now() }];
    });
    desk.answer('changeClients', () => {
      client('claude-desktop', (view) => (view.stale = true));
      return change([key]);
    });
    desk.answer('reopenClient', () => desk.mend('clients'));
    show(desk, '#/clients');
    await press('client-write-now');
    await screen.findByTestId('question-yes');
    await press('question-no');
    expect(desk.asked('changeClients')).toEqual([]);
    await press('client-write-now');
    await accept();
    const stale = await screen.findByTestId('client-stale');
    expect(stale.textContent).toContain('still runs the old configuration');
    expect(desk.asked('changeClients')).toEqual([{ act: 'protect', entries: [key], now: true }]);
    await press('reopen-claude-desktop');
    await waitFor(() => expect(screen.queryByTestId('client-stale')).toBeNull());
  });

  it('unprotecting asks once more, and its yes is deaf at first', async () => {
    show(desk, '#/clients');
    await press('entry-unprotect', await row('claude-code', 'fetch'));
    const yes = await screen.findByTestId('edits-yes');
    // A busy machine may have let the moment pass.
    if (yes.getAttribute('aria-disabled') === 'true') await fireEvent.click(yes);
    expect(desk.asked('changeClients')).toEqual([]);
    expect(screen.getByTestId('edits-dialog').textContent).toContain('neither judged nor recorded');
    await accept('edits-yes');
    await waitFor(() => expect(desk.asked('changeClients')).toMatchObject([{ act: 'unprotect' }]));
  });

  const marked = (view: ClientView) => {
    const file = view.files[0]!;
    Object.assign(file, { problem: 'it begins with a byte order mark', repairable: true });
  };

  it('repairs a byte order mark where it is offered, and offers nothing else', async () => {
    show(desk, '#/clients');
    const broken = await within(await card('zed')).findByTestId('file-problem');
    expect(within(broken).queryByTestId('file-repair')).toBeNull();
    cleanup();
    const { files } = client('cursor', marked);
    desk.answer('repairFile', () => desk.mend('clients'));
    show(desk, '#/clients');
    const note = await within(await card('cursor')).findByTestId('file-problem');
    expect(note.textContent).toContain('byte order mark');
    await press('file-repair', note);
    await waitFor(async () => expect(within(await card('cursor')).queryByTestId('file-problem')).toBeNull());
    expect(toasts()).toContain(`Repaired ${files[0]!.shown}`);
  });

  it('asks before it repairs the file of a client that runs and would write over it', async () => {
    client('claude-desktop', marked);
    desk.answer('repairFile', () => desk.mend('clients'));
    show(desk, '#/clients');
    const note = await within(await card('claude-desktop')).findByTestId('file-problem');
    await press('file-repair', note);
    await screen.findByTestId('question-yes');
    await press('question-no');
    expect(desk.asked('repairFile')).toEqual([]);
    await press('file-repair', note);
    await accept();
    await waitFor(() => expect(desk.asked('repairFile')).toMatchObject([{ client: 'claude-desktop', now: true }]));
  });

  const lost = (entries: EntryKey[], words = 'postgres has lost its gate'): DriftView => ({
    kind: 'lostGate',
    words,
    serious: true,
    fix: { kind: 'protect', entries },
  });

  it('mends drift, or leaves it after a question and does not ask again', async () => {
    const postgres = keyOf('cursor', 'postgres');
    drifted('cursor', [lost([postgres])]);
    desk.answer('changeClients', change([postgres]));
    desk.answer('leaveOpen', () => desk.mend('clients'));
    show(desk, '#/clients');
    const drift = await within(await card('cursor')).findByTestId('drift');
    expect(drift.textContent).toContain('postgres has lost its gate');
    await press('drift-protect', drift);
    await accept('edits-yes');
    await waitFor(() => expect(desk.asked('changeClients')).toMatchObject([{ act: 'protect', entries: [postgres] }]));
    await press('drift-leave', await card('cursor'));
    await accept();
    await waitFor(async () => expect(within(await card('cursor')).queryByTestId('drift')).toBeNull());
    expect(desk.asked('leaveOpen')).toEqual([{ entries: [postgres] }]);
  });

  it('tells what somebody else edited until that is noted', async () => {
    const entries = [keyOf('claude-code', 'fetch')];
    drifted('claude-code', [
      { kind: 'other', words: 'fetch was edited', serious: false, fix: { kind: 'takeNote', entries } },
    ]);
    desk.answer('takeNote', () => void drifted('claude-code', []));
    show(desk, '#/clients');
    const drift = await within(await card('claude-code')).findByTestId('drift');
    expect(drift.textContent).toContain('fetch was edited');
    await press('drift-note', drift);
    await waitFor(async () => expect(within(await card('claude-code')).queryByTestId('drift')).toBeNull());
    expect(desk.asked('takeNote')).toEqual([{ entries }]);
  });

  it('three lost gates are one banner with one way back, not a wall of warnings', async () => {
    const both = [keyOf('cursor', 'files'), keyOf('cursor', 'postgres')];
    drifted(
      'cursor',
      both.map((key) => lost([key], `${key.name} has lost its gate`)),
    );
    desk.answer('changeClients', change(both));
    show(desk, '#/clients');
    const cursor = await card('cursor');
    await waitFor(() =>
      expect(within(cursor).getByTestId('drift').textContent).toMatch(/2 servers have lost their gates/),
    );
    const back = within(cursor).getByTestId('drift-protect');
    expect(back.textContent).toBe('Put all back');
    await fireEvent.click(back);
    await accept('edits-yes');
    await waitFor(() => expect(desk.asked('changeClients')).toMatchObject([{ act: 'protect', entries: both }]));
  });

  it('a gate that the client put back is told, and kept or taken away again', async () => {
    const entries = [keyOf('claude-desktop', 'files')];
    const words = 'Claude Desktop put the gate back in front of files';
    drifted('claude-desktop', [{ kind: 'cameBack', words, serious: false, fix: { kind: 'unprotect', entries } }]);
    show(desk, '#/clients');
    const drift = await within(await card('claude-desktop')).findByTestId('drift');
    expect(drift.textContent).toContain('put the gate back in front of files');
    desk.answer('takeNote', undefined);
    await press('drift-keep', drift);
    await waitFor(() => expect(desk.asked('takeNote')).toEqual([{ entries }]));
    await press('drift-unprotect', drift);
    await accept('edits-yes');
    await waitFor(() => expect(desk.asked('changeClients')).toMatchObject([{ act: 'unprotect', entries }]));
  });

  it('tests a server through the gate and says what it answers, or what to do', async () => {
    const test = desk.recorded('testServer');
    desk.answer('testServer', ({ entry }) =>
      entry.name === 'files' ? test : { says: null, tools: null, problem: 'npx was not found' },
    );
    show(desk, '#/clients');
    const files = await row('claude-desktop', 'files');
    await press('entry-test', files);
    const answered = await within(files).findByTestId('entry-answer');
    await waitFor(() => expect(answered.textContent).toContain(`${test.tools} tools`));
    const fetch = await row('claude-code', 'fetch');
    await press('entry-test', fetch);
    expect((await within(fetch).findByTestId('entry-answer')).textContent).toContain('was not found');
  });

  it('an old answer of Test now is gone when the entry was changed since', async () => {
    show(desk, '#/clients');
    const files = await row('claude-desktop', 'files');
    await press('entry-test', files);
    await within(files).findByTestId('entry-answer');
    client('claude-desktop', (view) => (entryOf(view, 'files').command = 'npx --other'));
    await waitFor(() => expect(within(files).queryByTestId('entry-answer')).toBeNull());
    expect(files.textContent).toContain('--other');
  });

  it('after Protect it says what to do next, and Undo takes it back', async () => {
    const key = keyOf('cursor', 'files');
    desk.answer('changeClients', ({ act }) => change([key], { act }));
    show(desk, '#/clients');
    await press('entry-protect', await row('cursor', 'files'));
    await accept('edits-yes');
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Protected “files” in Cursor.');
    const { reload } = desk.recorded('clients').find(({ id }) => id === 'cursor')!;
    expect(within(toast).getByTestId('toast-next').textContent).toContain(reload);
    await press('undo', toast);
    await waitFor(() => expect(toasts()).toContain('Undone: Unprotected “files” in Cursor.'));
    expect(desk.asked('changeClients').map(({ act }) => act)).toEqual(['protect', 'unprotect']);
  });

  it('restores a backup after its diff; while the client runs it waits until it has quit', async () => {
    const [first] = desk.recorded('clientBackups');
    const backup = { ...first!, client: 'claude-desktop', clientName: 'Claude Desktop', current: false };
    const shown = '~/.config/Claude/claude_desktop_config.json';
    desk.answer('clientBackups', [backup]);
    desk.answer('restoreBackup', ({ now }) => {
      if (now) {
        desk.mend('clients');
        return 'done';
      }
      client('claude-desktop', (view) => {
        view.restores = [{ backup: backup.id, path: '/c', shown, sinceMs: Date.now() }];
      });
      return 'waits';
    });
    show(desk, '#/clients');
    await press('backups-open', await screen.findByTestId('clients'));
    await press('backup-restore', await screen.findByTestId('backups'));
    const dialog = await screen.findByTestId('restore-dialog');
    await within(dialog).findByTestId('diff');
    expect(within(dialog).getByTestId('restore-waits').textContent).toContain('waits until it has quit');
    await accept('restore-yes');
    await waitFor(() => expect(screen.queryByTestId('restore-dialog')).toBeNull());
    expect((await screen.findByTestId('client-queued')).textContent).toContain(`To be restored: ${shown}.`);
    expect(desk.asked('restoreBackup')).toEqual([{ id: backup.id, now: false }]);
    // Or now, after a question.
    await press('client-write-now');
    expect((await screen.findByTestId('question')).textContent).toContain('claude_desktop_config.json');
    await accept();
    await waitFor(() => expect(screen.queryByTestId('client-queued')).toBeNull());
    expect(desk.asked('restoreBackup')[1]).toEqual({ id: backup.id, now: true });
  });

  it('without a client it names those that are known; a failure is said, with another try', async () => {
    desk.answer('clients', []);
    show(desk, '#/clients');
    expect((await screen.findByTestId('no-client')).textContent).toMatch(/Claude Desktop.*Amazon Q/);
    expect(screen.getByTestId('no-client').textContent).toContain('run --server NAME --');
    cleanup();
    desk.fail('clients');
    show(desk, '#/clients');
    expect(await screen.findByText('The clients could not be read')).toBeTruthy();
  });

  it('is where the header leads when something lost its gate', async () => {
    const need = {
      words: 'postgres lost its gate',
      fix: { kind: 'openClients' as const },
      server: null,
      serious: true,
    };
    desk.answer('overview', { ...desk.recorded('overview'), needs: [need] });
    show(desk, '#/settings');
    await fireEvent.click(within(await screen.findByTestId('need')).getByText('Open clients'));
    expect(location.hash).toBe('#/clients');
    expect(await card('cursor')).toBeTruthy();
  });

  it('opens with the edits where the address asks for them, once', async () => {
    show(desk, '#/clients?review=protect');
    await screen.findByTestId('edits-dialog');
    expect(location.hash).toBe('#/clients');
  });
});

describe('Secrets', () => {
  const long = 'a-server-with-a-rather-long-name-that-does-not-fit-anywhere';

  it('are told by name, with what can be done about them', async () => {
    show(desk, '#/clients');
    const plain = within(await row('claude-code', long)).getByTestId('secrets-plain');
    expect(plain.textContent).toContain('2 secrets in plain text: TOOLS_SIGNING_KEY_OF_PRODUCTION and token');
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
    let kept: () => void = () => undefined;
    const names = ['token', 'TOOLS_SIGNING_KEY_OF_PRODUCTION'];
    desk.answer('changeSecrets', () => new Promise((resolve) => (kept = () => resolve({ names, left: [] }))));
    show(desk, '#/clients');
    await press('secrets-move', await row('claude-code', long));
    const dialog = await screen.findByTestId('secrets-dialog');
    expect((await within(dialog).findByTestId('secrets-names')).textContent).toMatch(/token argument, \d+ characters/);
    expect((await within(dialog).findByTestId('diff')).textContent).toContain('keychain://callgate/');
    expect(dialog.textContent).toMatch(/other programs can\s+see an argument as before/);
    await press('secrets-no', dialog);
    expect(desk.asked('changeSecrets')).toEqual([]);
    await press('secrets-move', await row('claude-code', long));
    await accept('secrets-yes');
    expect((await screen.findByTestId('secrets-waiting')).textContent).toContain('Asking the keychain');
    kept();
    await waitFor(() => expect(screen.queryByTestId('secrets-dialog')).toBeNull());
    expect(desk.asked('changeSecrets')).toMatchObject([{ act: 'move', entry: { name: long }, now: false }]);
    await waitFor(() => expect(toasts()).toContain('into the keychain.'));
  });

  it('come back only after a second step that is deaf at first', async () => {
    desk.answer('changeSecrets', { names: ['FETCH_API_KEY', 'PROXY_PASSWORD'], left: [] });
    show(desk, '#/clients');
    await press('secrets-back', await row('claude-code', 'fetch'));
    const yes = await screen.findByTestId('secrets-yes');
    // A busy machine may have let the moment pass.
    if (yes.getAttribute('aria-disabled') === 'true') await fireEvent.click(yes);
    expect(desk.asked('changeSecrets')).toEqual([]);
    expect(screen.getByTestId('secrets-dialog').textContent).toContain('every program of yours can read them');
    await accept('secrets-yes');
    await waitFor(() => expect(desk.asked('changeSecrets')).toMatchObject([{ entry: { name: 'fetch' } }]));
  });

  it('that are none can be left out, each for itself', async () => {
    desk.answer('changeSecrets', { names: [], left: [] });
    show(desk, '#/clients');
    await press('secrets-move', await row('claude-code', long));
    const ticks = await screen.findAllByTestId<HTMLInputElement>('secrets-tick');
    expect(ticks.map(({ checked }) => checked)).toEqual([true, true]);
    await fireEvent.click(ticks[0]!);
    await fireEvent.click(ticks[1]!);
    expect(screen.getByTestId('secrets-yes').getAttribute('aria-disabled')).toBe('true');
    await fireEvent.click(ticks[1]!);
    await accept('secrets-yes');
    const only = [desk.recorded('previewSecrets', { act: 'move' }).secrets[1]!.name];
    await waitFor(() => expect(desk.asked('changeSecrets')).toMatchObject([{ only }]));
  });

  it('stay where they are without a keychain, and that is said', async () => {
    desk.fail('changeSecrets', { message: 'no keychain can be reached here' });
    show(desk, '#/clients');
    await press('secrets-move', await row('claude-code', long));
    await accept('secrets-yes');
    expect((await screen.findByTestId('secrets-problem')).textContent).toContain('no keychain can be reached here');
    await waitFor(() => expect(screen.getByTestId('secrets-yes').getAttribute('aria-disabled')).toBe('false'));
  });

  it('that moved to the keychain are purged from the backups by a button, after a question', async () => {
    desk.answer('purgeCopies', { rewritten: 2, problems: [] });
    show(desk, '#/clients');
    await row('claude-code', 'fetch');
    await press('backups-open');
    await press('backups-purge');
    expect(desk.asked('purgeCopies')).toEqual([]);
    await accept();
    await waitFor(() => expect(toasts()).toContain('Purged 2 copies of the values.'));
  });

  it('of a running client that would write over it wait for a person who insists', async () => {
    client('claude-desktop', (view) => (entryOf(view, 'github').state = 'protected'));
    desk.answer('previewSecrets', desk.all('previewSecrets')[0]!);
    desk.answer('changeSecrets', { names: ['GITHUB_TOKEN'], left: [] });
    show(desk, '#/clients');
    await press('secrets-move', await row('claude-desktop', 'github'));
    const yes = await screen.findByTestId('secrets-yes');
    expect(yes.getAttribute('aria-disabled')).toBe('true');
    await press('secrets-now');
    await accept('secrets-yes');
    await waitFor(() => expect(desk.asked('changeSecrets')).toMatchObject([{ now: true }]));
  });

  it('that were stored for another command are given to the new one only by a person', async () => {
    client('claude-code', (view) => (entryOf(view, 'fetch').secrets.unbound = true));
    desk.answer('previewSecrets', { ...desk.all('previewSecrets')[0]!, command: 'uvx mcp-server-fetch' });
    desk.answer('changeSecrets', { names: [], left: [] });
    show(desk, '#/clients');
    const kept = within(await row('claude-code', 'fetch')).getByTestId('secrets-kept');
    expect(kept.textContent).toContain('so it may not be started');
    await press('secrets-rebind', kept);
    const dialog = await screen.findByTestId('secrets-dialog');
    await waitFor(() => expect(dialog.textContent).toContain('uvx mcp-server-fetch'));
    await accept('secrets-yes');
    await waitFor(() => expect(desk.asked('changeSecrets')).toMatchObject([{ act: 'rebind' }]));
  });
});

describe('The checklist', () => {
  beforeEach(() => (desk = new RecordedDesk('first')));
  const open = () =>
    desk
      .recorded('clients')
      .flatMap(({ files }) => files.flatMap(({ entries }) => entries))
      .filter((entry) => entry.state === 'open')
      .map(({ key }) => key);
  /** Cursor takes it at once; Claude Desktop runs, and waits. */
  function protect(entries = open()) {
    const [done, waiting] = [true, false].map((now) => entries.filter((key) => (key.client === 'cursor') === now));
    const views = desk.recorded('clients');
    for (const entry of views.flatMap((view) => view.files.flatMap((file) => file.entries)))
      if (done!.some((key) => key.path === entry.key.path && key.name === entry.key.name)) entry.state = 'protected';
    views.find(({ id }) => id === 'claude-desktop')!.queued = waiting!.map((entry) => ({
      act: 'protect',
      byItself: false,
      entry,
      sinceMs: Date.now(),
    }));
    desk.answer('clients', views);
    return change(done!, { waiting: waiting! });
  }

  it('says when the clients, or the edits, cannot be read', async () => {
    desk.fail('clients');
    show(desk, '#/welcome');
    expect((await screen.findByTestId('checklist-problem')).textContent).toContain('could not be read');
    cleanup();
    desk.mend('clients');
    desk.fail('previewClients');
    show(desk, '#/welcome');
    const step = await screen.findByTestId('step-edits');
    await waitFor(() => expect(step.textContent).toContain('disk is full'));
    expect(screen.queryByTestId('checklist-protect')).toBeNull();
  });

  it('what only waits is undone at once; what is written, after its diff', async () => {
    desk.answer('changeClients', ({ act }) => {
      if (act === 'protect') return protect();
      desk.mend('clients');
      return change([], { act });
    });
    desk.answer('previewClients', desk.recorded('previewClients'));
    desk.answer('dropQueued', undefined);
    show(desk, '#/welcome');
    await press('checklist-protect');
    await screen.findByTestId('reopen-claude-desktop');
    await press('checklist-undo');
    await accept('edits-yes');
    await waitFor(() => expect(screen.getByTestId('step-edits').dataset.mark).toBe('now'));
    const written = open().filter((key) => key.client === 'cursor');
    expect(desk.asked('changeClients')[1]).toMatchObject({ act: 'unprotect', entries: written });
    expect(desk.asked('dropQueued')).toMatchObject([{ client: 'claude-desktop' }]);
    expect(screen.queryByTestId('checklist-undo')).toBeNull();
  });

  it('protects all but what was unticked, and nothing when nothing is ticked', async () => {
    desk.answer('changeClients', ({ entries }) => protect(entries));
    desk.answer('previewClients', desk.recorded('previewClients'));
    show(desk, '#/welcome');
    await press('checklist-take-cursor-files');
    const yes = await screen.findByTestId('checklist-protect');
    await waitFor(() => expect(yes.textContent).toBe(`Protect ${open().length - 1} servers`));
    const others = open().filter(({ client: id, name }) => `${id} ${name}` !== 'cursor files');
    for (const { client: id, name } of others) await press(`checklist-take-${id}-${name}`);
    await waitFor(() => expect(screen.getByTestId('checklist-protect').getAttribute('aria-disabled')).toBe('true'));
    await press('checklist-protect');
    expect(desk.asked('changeClients')).toEqual([]);
    await press('checklist-take-cursor-postgres');
    await accept('checklist-protect');
    await waitFor(() => expect(desk.asked('changeClients')).toHaveLength(1));
    expect(desk.asked('changeClients')[0]!.entries.map(({ name }: EntryKey) => name)).toEqual(['postgres']);
  });

  it('still knows what to undo when the window was closed meanwhile', async () => {
    desk.answer('changeClients', () => protect());
    show(desk, '#/welcome');
    await press('checklist-protect');
    await screen.findByTestId('reopen-claude-desktop');
    cleanup();
    show(desk, '#/welcome');
    expect(await screen.findByTestId('checklist-undo')).toBeTruthy();
  });
});
