// A server of one's own in the whole window.
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, it } from 'vitest';
import type { DraftPreview, DraftProblem, EntryKey, ServerDraft } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { accept, press, show, toasts, type } from '../../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

async function open(hash = '#/clients'): Promise<HTMLElement> {
  show(desk, hash);
  if (hash === '#/clients') await press('clients-add');
  return screen.findByTestId('add-dialog');
}

/** A server that can be added as it is. */
async function typed(): Promise<HTMLElement> {
  const dialog = await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await press('add-to-cursor');
  return dialog;
}

const preview = (): DraftPreview => desk.all('previewServer').find(({ problem }) => problem === null)!;
/** Of what is wrong with a draft, the desk says this. */
const objects = (to: (draft: ServerDraft) => DraftProblem | null) =>
  desk.answer('previewServer', ({ draft }) => ({ ...preview(), problem: to(draft) }));
const key = (client: string): EntryKey => ({ client, path: '/c', project: null, name: 'mine' });
const placed = (more: { done?: EntryKey[]; waiting?: EntryKey[] }) =>
  desk.answer('addServer', { act: 'place', done: [], waiting: [], refused: [], left: [], ...more });

it('shows what is written while it is typed, writes it with Add, and then it can be tested', async () => {
  desk.answer('testServer', desk.recorded('testServer'));
  const dialog = await typed();
  const edits = await within(dialog).findByTestId('edit-cursor');
  expect(edits.textContent).toContain('--server');
  expect(within(dialog).getByTestId('edit-callgate').textContent).toContain('servers.json');
  expect(desk.asked('addServer')).toEqual([]);
  await accept('add-yes');
  const added = await screen.findByTestId('added');
  expect(added.textContent).toContain('Placed in Cursor, behind the gate');
  const draft = { name: 'mine', command: 'npx mine', variables: [], clients: ['cursor'] };
  expect(desk.asked('addServer')).toEqual([{ draft }]);
  await press('entry-test', added);
  const { tools } = desk.recorded('testServer');
  expect((await within(added).findByTestId('entry-answer')).textContent).toContain(`${tools} tools`);
  await press('add-close');
  await waitFor(() => expect(screen.queryByTestId('add-dialog')).toBeNull());
});

it('says what is to be known about how it is started, what is grave in sight and the rest folded away', async () => {
  const note = { entry: 'mine', code: 'x', place: 'args/0', grave: false, quote: 'q', words: 'w', fix: 'f' };
  const edits = preview().edits;
  desk.answer('previewServer', ({ draft }) => {
    const { command } = draft as ServerDraft;
    const mild = { ...note, quote: 'mine', words: 'No version is named.', fix: 'Name one.' };
    const grave = { ...note, grave: true, quote: '-e <b>', words: 'It holds code.', fix: 'Read it.' };
    const launch = command === 'npx mine' ? [mild] : command === 'quiet' ? [] : [grave, mild];
    return { ...preview(), edits: { ...edits, launch } };
  });
  const dialog = await typed();
  const mild = await within(dialog).findByTestId('launch-mild');
  expect(mild.hasAttribute('open')).toBe(false);
  expect(mild.textContent).toContain('No version is named. Name one.');
  expect(within(dialog).queryByTestId('launch-grave')).toBeNull();
  await type('add-command', 'node -e x');
  const grave = await within(dialog).findByTestId('launch-grave');
  expect(grave.textContent).toMatch(/mine.*-e <b>.*It holds code\. Read it\./);
  // It is said, and stands in nobody's way.
  expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('false');
  await type('add-command', 'quiet');
  await waitFor(() => expect(within(dialog).queryByTestId('launch-grave')).toBeNull());
  expect(within(dialog).queryByTestId('launch-mild')).toBeNull();
});

it('says what is wrong where it was typed, and only once somebody has left the field', async () => {
  objects(({ name, command }) => {
    if (name.includes(' ')) return { part: 'name', words: 'Use letters, digits, - and _.' };
    return command.includes('"') ? { part: 'command', words: 'a quote is not closed' } : null;
  });
  const dialog = await open();
  await type('add-name', 'not good');
  expect(within(dialog).queryByTestId('add-name-problem')).toBeNull();
  await fireEvent.blur(within(dialog).getByTestId('add-name'));
  await waitFor(() => expect(within(dialog).getByTestId('add-name-problem').textContent).toContain('letters, digits'));
  expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('true');
  await type('add-name', 'good');
  await type('add-command', 'npx "open');
  // A press on Add says everything.
  await press('add-yes');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-command-problem').textContent).toContain('a quote is not closed'),
  );
  expect(desk.asked('addServer')).toEqual([]);
});

it('offers the keychain for what looks like a secret, hides it, and shows it to nobody', async () => {
  desk.answer('previewServer', ({ draft }) => ({
    ...preview(),
    looksSecret: (draft as ServerDraft).variables.filter(({ secret }) => !secret).map(({ name }) => name),
  }));
  placed({ done: [key('cursor')] });
  const dialog = await typed();
  await press('add-variable-more');
  await type('add-variable-name', 'GITHUB_TOKEN');
  await press('add-variable-secret');
  const value = within(dialog).getByTestId<HTMLInputElement>('add-variable-value');
  expect(value.type).toBe('password');
  // Without a value it cannot be kept.
  await press('add-yes');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-variables-problem').textContent).toBe('GITHUB_TOKEN has no value'),
  );
  await type('add-variable-value', 'ghp_1234567890');
  await waitFor(() => expect(within(dialog).queryByTestId('add-variables-problem')).toBeNull());
  await press('add-variable-secret');
  const suspect = await within(dialog).findByTestId('add-variable-suspect');
  expect(value.type).toBe('text');
  const before = desk.asked('previewServer').length;
  await fireEvent.click(within(suspect).getByText('Keep it in the keychain'));
  expect(value.type).toBe('password');
  await waitFor(() => expect(desk.asked('previewServer').length).toBeGreaterThan(before));
  expect(JSON.stringify(desk.asked('previewServer').slice(before))).not.toContain('ghp_');
  await accept('add-yes');
  await screen.findByTestId('added');
  expect(desk.asked('addServer')[0]!.draft.variables).toEqual([
    { name: 'GITHUB_TOKEN', value: 'ghp_1234567890', secret: true },
  ]);
});

it('what a running client would lose waits, and says so before and after', async () => {
  const edits = preview().edits;
  const files = edits.files.map((file) => (file.client === 'cursor' ? { ...file, client: 'claude-desktop' } : file));
  desk.answer('previewServer', { ...preview(), edits: { ...edits, files } });
  placed({ waiting: [key('claude-desktop')] });
  const dialog = await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await press('add-to-claude-desktop');
  expect((await within(dialog).findByTestId('add-waits')).textContent).toContain('Closing its window is not quitting');
  await accept('add-yes');
  expect((await screen.findByTestId('added')).textContent).toContain('To be placed in Claude Desktop when it has quit');
});

it('leaves alone what has the name already, and files that cannot be read; then it is not "added"', async () => {
  const why = 'there is another server of this name';
  desk.answer('previewServer', ({ draft }) => {
    const { clients } = draft as ServerDraft;
    const refused = clients.includes('cursor') ? [{ clientName: 'Cursor', name: 'mine', why }] : [];
    return {
      ...preview(),
      edits: { ...preview().edits, files: clients.length > 1 ? preview().edits.files : [], refused },
    };
  });
  const dialog = await typed();
  expect((await within(dialog).findByTestId('edits-refused')).textContent).toContain('another server of this name');
  const zed = within(dialog).getByTestId<HTMLInputElement>('add-to-zed');
  expect(zed.disabled).toBe(true);
  expect(zed.closest('label')!.textContent).toContain('not valid JSON');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-nowhere').textContent).toContain('No client that is ticked can take it'),
  );
  await press('add-yes');
  expect(desk.asked('addServer')).toEqual([]);
  await press('add-to-claude-code');
  await waitFor(() => expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('false'));
});

it('a failure is said in place, and nothing that was typed is lost', async () => {
  desk.fail('addServer');
  const dialog = await typed();
  await accept('add-yes');
  expect((await within(dialog).findByTestId('add-error')).textContent).toContain('disk is full');
  expect(within(dialog).getByTestId<HTMLInputElement>('add-command').value).toBe('npx mine');
});

it('opens from its address, once; where there is no client, the own list is the place', async () => {
  desk.answer('clients', []);
  desk.answer('serverPlaces', []);
  placed({});
  await open('#/clients?add=server');
  expect(location.hash).toBe('#/clients');
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await accept('add-yes');
  expect((await screen.findByTestId('added')).textContent).toContain('in no client yet');
});

/** Opens the dialog before a server of one's own is removed. */
async function remove(): Promise<HTMLElement> {
  const views = desk.recorded('clients');
  const { entries } = views.find(({ id }) => id === 'cursor')!.files[0]!;
  entries.push({ ...entries[0]!, key: { ...entries[0]!.key, name: 'mine' }, server: 'mine', added: true });
  desk.answer('clients', views);
  show(desk, '#/clients');
  const cursor = await screen.findByTestId('client-cursor');
  expect(within(cursor).getAllByTestId('entry-remove')).toHaveLength(1);
  await press('entry-remove', cursor);
  return screen.findByTestId('remove-dialog');
}

it('a server that was added is removed after its edits were seen, and Undo brings it back', async () => {
  const dialog = await remove();
  expect((await within(dialog).findByTestId('edit-cursor')).textContent).toContain('mine');
  expect(within(dialog).getByTestId('edit-callgate').textContent).toContain('servers.json');
  const yes = within(dialog).getByTestId('remove-yes');
  if (yes.getAttribute('aria-disabled') === 'true') await fireEvent.click(yes);
  expect(desk.asked('removeServer'), 'in its first moment no answer counts').toEqual([]);
  await accept('remove-yes');
  await waitFor(() => expect(toasts()).toContain("Removed “mine” from Cursor and Callgate's own list"));
  await press('undo');
  await waitFor(() => expect(desk.asked('restoreServer')).toEqual([{ server: 'mine' }]));
  await waitFor(() => expect(toasts()).toContain('“mine” is back.'));
});

it('what goes for good with a server is said before it is removed, and has no Undo', async () => {
  desk.answer('previewRemoval', { ...desk.recorded('previewRemoval'), secrets: ['API_TOKEN'] });
  desk.answer('removeServer', { ...desk.recorded('removeServer'), undoUntilMs: null });
  const dialog = await remove();
  expect((await within(dialog).findByTestId('remove-secrets')).textContent).toMatch(/API_TOKEN.*cannot be undone/);
  await accept('remove-yes');
  await waitFor(() => expect(toasts()).toContain('Removed “mine”'));
  expect(screen.queryByTestId('undo')).toBeNull();
});
