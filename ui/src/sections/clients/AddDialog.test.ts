// A server of one's own in the whole window, on the in-memory backend.
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import Root from '../../App.svelte';
import { App } from '../../lib/app.svelte';
import { fakeBackend, type FakeBackend, type FakeOptions } from '../../lib/backend/fake';

vi.setConfig({ testTimeout: 60_000 });
// A busy machine needs its time.
configure({ asyncUtilTimeout: 20_000 });

let fake: FakeBackend;

async function open(options: FakeOptions = {}, hash = '#/clients'): Promise<HTMLElement> {
  history.replaceState(null, '', hash);
  fake = fakeBackend({ calls: 60, rate: 0, ...options });
  render(Root, { props: { app: new App(fake) } });
  if (hash === '#/clients') await fireEvent.click(await screen.findByTestId('clients-add'));
  return screen.findByTestId('add-dialog');
}

beforeEach(() => {
  localStorage.clear();
  Element.prototype.scrollIntoView ??= () => undefined;
});
afterEach(() => {
  cleanup();
  fake.world.stop();
});

const type = async (testid: string, value: string, at = 0) =>
  fireEvent.input((await screen.findAllByTestId(testid))[at]!, { target: { value } });
const tick = async (testid: string) => fireEvent.click(await screen.findByTestId(testid));
async function yes() {
  const button = await screen.findByTestId('add-yes');
  await waitFor(() => expect(button.getAttribute('aria-disabled')).toBe('false'));
  await fireEvent.click(button);
}
const names = (client: string) =>
  fake.machine.clients.find((one) => one.id === client)!.files[0]!.entries.map((entry) => entry.name);

it('shows what is written while it is typed, writes it with Add, and then it can be tested', async () => {
  const dialog = await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx -y "my server"');
  await tick('add-to-cursor');
  const edits = await within(dialog).findByTestId('edit-cursor');
  expect(edits.textContent).toContain('--server');
  expect(within(dialog).getByTestId('edit-callgate').textContent).toContain('servers.json');
  expect(names('cursor')).not.toContain('mine');
  await yes();
  const added = await screen.findByTestId('added');
  expect(added.textContent).toContain('Placed in Cursor, behind the gate');
  expect(names('cursor')).toContain('mine');
  await fireEvent.click(within(added).getByTestId('entry-test'));
  expect((await within(added).findByTestId('entry-answer')).textContent).toContain('4 tools');
  await tick('add-close');
  await waitFor(() => expect(screen.queryByTestId('add-dialog')).toBeNull());
  const row = within(await screen.findByTestId('client-cursor')).getByTestId('entry-mine');
  expect(row.textContent).toContain('Protected');
});

it('says what is wrong where it was typed, and only once somebody has left the field', async () => {
  const dialog = await open();
  await type('add-name', 'not good');
  expect(within(dialog).queryByTestId('add-name-problem')).toBeNull();
  await fireEvent.blur(within(dialog).getByTestId('add-name'));
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-name-problem').textContent).toContain('letters, digits, - and _'),
  );
  expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('true');
  await type('add-name', 'good');
  await type('add-command', 'npx "open');
  // A press on Add says everything.
  await tick('add-yes');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-command-problem').textContent).toContain('a quote is not closed'),
  );
  expect(fake.world.own.size).toBe(0);
});

it('offers the keychain for what looks like a secret, hides it, and shows it to nobody', async () => {
  const preview = vi.fn();
  const dialog = await open();
  const { previewServer } = fake;
  fake.previewServer = (draft) => {
    preview(JSON.stringify(draft));
    return previewServer(draft);
  };
  await type('add-name', 'gh');
  await type('add-command', 'gh-mcp');
  await tick('add-to-cursor');
  await tick('add-variable-more');
  await type('add-variable-name', 'GITHUB_TOKEN');
  await tick('add-variable-secret');
  const value = within(dialog).getByTestId<HTMLInputElement>('add-variable-value');
  expect(value.type).toBe('password');
  // Without a value it cannot be kept.
  await tick('add-yes');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-variables-problem').textContent).toBe('GITHUB_TOKEN has no value'),
  );
  await type('add-variable-value', 'ghp_1234567890');
  await waitFor(() => expect(within(dialog).queryByTestId('add-variables-problem')).toBeNull());
  await tick('add-variable-secret');
  const suspect = await within(dialog).findByTestId('add-variable-suspect');
  expect(value.type).toBe('text');
  preview.mockClear();
  await fireEvent.click(within(suspect).getByText('Keep it in the keychain'));
  expect(value.type).toBe('password');
  await waitFor(() => expect(preview).toHaveBeenCalled());
  expect(preview.mock.calls.flat().join('')).not.toContain('ghp_');
  await yes();
  await screen.findByTestId('added');
});

it('what a running client would lose waits, and says so before and after', async () => {
  const dialog = await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await tick('add-to-claude-desktop');
  expect((await within(dialog).findByTestId('add-waits')).textContent).toContain('Closing its window is not quitting');
  await yes();
  expect((await screen.findByTestId('added')).textContent).toContain('To be placed in Claude Desktop when it has quit');
  await tick('add-close');
  expect((await screen.findByTestId('client-queued')).textContent).toContain('To be placed: mine.');
  expect(names('claude-desktop')).not.toContain('mine');
  fake.machine.quit('claude-desktop');
  expect(names('claude-desktop')).toContain('mine');
});

it('leaves alone what has the name already, and files that cannot be read', async () => {
  const dialog = await open();
  await type('add-name', 'postgres');
  await type('add-command', 'other');
  await tick('add-to-cursor');
  expect((await within(dialog).findByTestId('edits-refused')).textContent).toContain('another server of this name');
  const zed = within(dialog).getByTestId<HTMLInputElement>('add-to-zed');
  expect(zed.disabled).toBe(true);
  expect(zed.closest('label')!.textContent).toContain('not valid JSON');
});

it('is not "added" when no ticked client takes it', async () => {
  const dialog = await open();
  await type('add-name', 'postgres');
  await type('add-command', 'other');
  await tick('add-to-cursor');
  await within(dialog).findByTestId('edits-refused');
  await waitFor(() =>
    expect(within(dialog).getByTestId('add-nowhere').textContent).toContain('No client that is ticked can take it'),
  );
  await tick('add-yes');
  expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('true');
  expect(fake.world.own.size).toBe(0);
  await tick('add-to-claude-code');
  await waitFor(() => expect(within(dialog).getByTestId('add-yes').getAttribute('aria-disabled')).toBe('false'));
});

it('a failure is said in place, and nothing that was typed is lost', async () => {
  const dialog = await open({ fail: ['addServer'] });
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await tick('add-to-cursor');
  await yes();
  expect((await within(dialog).findByTestId('add-error')).textContent).toContain('disk is full');
  expect(within(dialog).getByTestId<HTMLInputElement>('add-command').value).toBe('npx mine');
});

it('opens from its address, once, and a server without a session is in Servers', async () => {
  // Where there is no client, Callgate's own list is the place.
  await open({ clients: 'none' }, '#/clients?add=server');
  expect(location.hash).toBe('#/clients');
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await yes();
  expect((await screen.findByTestId('added')).textContent).toContain('in no client yet');
  const server = (await fake.servers()).find((one) => one.name === 'mine');
  expect(server?.state).toBe('neverStarted');
});

it('a server that was added is removed after its edits were seen, and Undo brings it back', async () => {
  await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await tick('add-to-cursor');
  await yes();
  await tick('add-close');
  const row = () => within(screen.getByTestId('client-cursor')).queryByTestId('entry-mine');
  await waitFor(() => expect(row()).not.toBeNull());
  expect(within(screen.getByTestId('client-cursor')).getAllByTestId('entry-remove')).toHaveLength(1);
  await fireEvent.click(within(row()!).getByTestId('entry-remove'));
  const dialog = await screen.findByTestId('remove-dialog');
  expect((await within(dialog).findByTestId('edit-cursor')).textContent).toContain('mine');
  expect(within(dialog).getByTestId('edit-callgate').textContent).toContain('servers.json');
  expect(names('cursor')).toContain('mine');
  const remove = within(dialog).getByTestId('remove-yes');
  await fireEvent.click(remove);
  expect(names('cursor'), 'in its first moment no answer counts').toContain('mine');
  await waitFor(() => expect(remove.getAttribute('aria-disabled')).toBe('false'));
  await fireEvent.click(remove);
  await waitFor(() => expect(row()).toBeNull());
  expect(screen.getByTestId('toast').textContent).toContain("Removed “mine” from Cursor and Callgate's own list");
  await tick('undo');
  await waitFor(() => expect(row()).not.toBeNull());
});

it('what goes for good with a server is said before it is removed, and has no Undo', async () => {
  await open();
  await type('add-name', 'mine');
  await type('add-command', 'npx mine');
  await tick('add-variable-more');
  await type('add-variable-name', 'API_TOKEN');
  await type('add-variable-value', 'ghp_secret');
  await tick('add-variable-secret');
  await yes();
  await tick('add-close');
  const app = screen.getByTestId('rail-servers');
  await fireEvent.click(app);
  const card = await screen.findByTestId('server-mine');
  await fireEvent.click(within(card).getByTestId('server-more'));
  await tick('server-remove');
  const dialog = await screen.findByTestId('remove-dialog');
  expect((await within(dialog).findByTestId('remove-secrets')).textContent).toMatch(/API_TOKEN.*cannot be undone/);
  const remove = within(dialog).getByTestId('remove-yes');
  await waitFor(() => expect(remove.getAttribute('aria-disabled')).toBe('false'));
  await fireEvent.click(remove);
  await waitFor(() => expect(screen.getByTestId('toast').textContent).toContain('Removed “mine”'));
  expect(screen.queryByTestId('undo')).toBeNull();
});
