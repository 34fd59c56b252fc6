// @vitest-environment jsdom
// Where the badge sits: on the section that it is about, until somebody looked there.
import { screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../lib/app.svelte';
import type { Need } from '../lib/backend';
import { RecordedDesk } from '../testing/desk';
import { show } from '../testing/window';

const need = (words: string, fix: Need['fix'], server: string | null = null): Need => ({
  words,
  fix,
  server,
  serious: true,
});

let app: App;
let needs: Need[];
beforeEach(() => {
  const desk = new RecordedDesk();
  const overview = desk.recorded('overview');
  needs = [
    need('lost', { kind: 'openClients' }),
    need('broken', { kind: 'openRules', server: 'files' }, 'files'),
    need('paused', { kind: 'resume', server: 'files' }, 'files'),
  ];
  desk.answer('overview', () => ({ ...overview, needs }));
  app = show(desk, '#/activity');
});

const badges = async () => {
  await app.refresh();
  await tick();
  return screen.queryAllByTestId(/^badge-/).map((one) => one.dataset.testid);
};

describe('the badge for what needs a person', () => {
  it('sits on the section that it is about, not on Activity', async () => {
    expect(await badges()).toEqual(['badge-servers', 'badge-clients', 'badge-rules']);
  });

  it('goes when somebody looked there, and comes back for other news', async () => {
    await badges();
    app.router.go('#/clients');
    expect(await badges()).toEqual(['badge-servers', 'badge-rules']);
    app.router.go('#/activity');
    expect(await badges()).toEqual(['badge-servers', 'badge-rules']);
    needs = needs.filter(({ words }) => words !== 'lost');
    await badges();
    needs = [...needs, need('lost', { kind: 'openClients' })];
    expect(await badges()).toContain('badge-clients');
  });

  it('goes when it is mended', async () => {
    needs = [];
    expect(await badges()).toEqual([]);
  });
});
