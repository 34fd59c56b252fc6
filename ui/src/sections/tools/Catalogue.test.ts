// The catalogue in the whole window: found by a tool's name, added with its command and the recommended rules.
import { screen, waitFor } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import { RecordedDesk } from '../../testing/desk';
import { show, type } from '../../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));
const names = () => screen.queryAllByTestId('known-server').map((one) => one.dataset.server);

describe('the catalogue', () => {
  it('finds a server by what it is for and by its tools', async () => {
    show(desk, '#/tools?catalogue=');
    await screen.findByTestId('catalogue');
    expect(names().length).toBeGreaterThan(20);
    await type('catalogue-find', 'slack_post');
    expect(names()).toEqual(['Slack (archived reference)']);
    await type('catalogue-find', 'nothing like it');
    expect(screen.getByTestId('catalogue').textContent).toContain('No server fits');
  });

  it('adds one with its command, its variables as secrets, and the recommended rules chosen', async () => {
    show(desk, '#/tools?catalogue=');
    await screen.findByTestId('catalogue');
    await type('catalogue-find', 'slack');
    screen.getByTestId('known-add').click();
    const field = (id: string) => screen.getByTestId<HTMLInputElement>(id).value;
    await waitFor(() => expect(field('add-name')).toBe('slack'));
    expect(field('add-command')).toContain('@modelcontextprotocol/server-slack@');
    expect(document.querySelectorAll('[data-testid="add-dialog"] .variable')).toHaveLength(2);
  });

  it('of one that no registry has it offers no command', async () => {
    show(desk, '#/tools?catalogue=');
    await screen.findByTestId('catalogue');
    await type('catalogue-find', 'runautomation');
    expect(screen.queryByTestId('known-add')).toBeNull();
    expect(screen.getByTestId('catalogue').textContent).toContain('On no registry');
  });

  it('says why it cannot be shown, and tries again', async () => {
    desk.fail('catalogue');
    show(desk, '#/tools?catalogue=');
    const again = await screen.findByText('Try again');
    desk.mend('catalogue');
    again.click();
    expect(await screen.findByTestId('catalogue')).toBeTruthy();
  });
});
