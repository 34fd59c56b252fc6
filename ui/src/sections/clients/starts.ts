// Which rules servers begin with, where several of them are put behind the gate at once.
import { confirmed, tell } from '../../lib/acts';
import type { App } from '../../lib/app.svelte';
import type { ServerStart, StartingPoint } from '../../lib/backend';

/** Nothing is written: what counts for servers without rules of their own counts. */
export const asNow = 'as-now';

export interface StartChoice {
  id: string;
  title: string;
  caption: string;
}

/** Those of which at least one server can be true. "Watch only" is as it is now, where the default policy is that. */
export function choices(starts: readonly ServerStart[]): StartChoice[] {
  const all = starts.flatMap((start) => start.points);
  const known = [...new Map(all.map(({ id, title, caption }) => [id, { id, title, caption }])).values()];
  const order = ['watch-only', 'recommended', 'read-only', 'locked'];
  known.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
  const watched = starts.every((start) => pointOf(start, 'watch-only')?.inForce ?? false);
  const now = { id: asNow, title: 'As the default policy says', caption: 'What counts for servers without own rules.' };
  return watched ? known.map((one) => (one.id === 'watch-only' ? { ...one, id: asNow } : one)) : [now, ...known];
}

export const pointOf = (start: ServerStart, id: string): StartingPoint | undefined =>
  start.points.find((point) => point.id === id);

export const whyNot =
  'what it can do is not known yet, so this would refuse more than it says. It begins as the default policy says; scan it in Overview, then choose.';

/** Puts the chosen one in force for each of these; answers once all are asked about. */
export async function beginWith(app: App, starts: readonly ServerStart[], chosen: string): Promise<void> {
  if (chosen === asNow) return;
  for (const start of starts) {
    const point = pointOf(start, chosen);
    if (start.hasRules || !point) continue;
    try {
      const answer = await app.backend.beginWith(start.server, point);
      const done = answer.kind === 'done' ? answer : await confirmed(app, answer, 'Begin so');
      if (done) tell(app, done, false);
    } catch (thrown) {
      app.fail(thrown);
    }
  }
  app.acts += 1;
}
