// What a person does. Restricting acts at once and can be undone; loosening asks first. Words come from the gate, so that
// the toast says what was really written.
import { BackendError, type Done, type Loosening, type Question, type Restriction } from './backend';
import type { App } from './app.svelte';
import type { Toast } from './toasts.svelte';

const pollEvery = 400;
const pollFor = 10_000;
/** What an agent is told a reason for; a hidden tool is answered as if it did not exist. */
const toldWhy: readonly Restriction['kind'][] = ['block', 'cap', 'refuse', 'pause'];

/**
 * Acts at once; the toast offers undo and, where it makes sense, takes a reason for the agent. A cap that is higher than the
 * present one loosens: then the question comes first.
 */
export async function restrict(app: App, restriction: Restriction, covered: string[] = []): Promise<Done | null> {
  try {
    const done = await app.backend.restrict(restriction);
    const toast = tell(app, done, toldWhy.includes(restriction.kind));
    toast.act = restriction;
    offer(toast, done, covered, (server, all) => void restrict(app, elsewhere(restriction, server), all));
    return done;
  } catch (thrown) {
    if (restriction.kind === 'cap' && BackendError.from(thrown).code === 'notConfirmed')
      return loosen(app, restriction);
    app.fail(thrown);
    return null;
  } finally {
    app.acts += 1;
    void app.refresh();
  }
}

/** Asks if it loosens, then acts. Answers what was done, or nothing if the person said no. */
export async function loosen(app: App, loosening: Loosening, covered: string[] = []): Promise<Done | null> {
  try {
    const answer = await app.backend.loosen(loosening);
    const done = answer.kind === 'done' ? answer : await confirmed(app, answer, yesWord(loosening));
    if (!done) return null;
    const toast = tell(app, done, false);
    offer(toast, done, covered, (server, all) => void loosen(app, elsewhere(loosening, server), all));
    return done;
  } catch (thrown) {
    app.fail(thrown);
    return null;
  } finally {
    app.acts += 1;
    void app.refresh();
  }
}

/** Other servers of the same name are not covered by an act: each is one more click. */
function offer(toast: Toast, done: Done, covered: string[], again: (server: string, covered: string[]) => void): void {
  const all = done.server === null ? covered : [...covered, done.server];
  const left = (done.siblings ?? []).filter((server) => !all.includes(server));
  toast.also = left.map((server) => ({ server, run: () => again(server, all) }));
}

/** The same act at another server. */
function elsewhere<A extends Restriction | Loosening>(act: A, server: string): A {
  if ('target' in act) return { ...act, target: { ...act.target, server } };
  return 'server' in act ? { ...act, server } : act;
}

/** Puts the gate's question. No is told as well: what was asked must not lie around until it expires. */
export async function confirmed(app: App, question: Question, yes: string): Promise<Done | null> {
  if (await app.ask(question, yes)) return app.backend.confirm(question.token);
  // It expires by itself, too: not worth an error before somebody who said no.
  await app.backend.dismiss(question.token).catch(() => undefined);
  return null;
}

/** What an address asks to loosen; nothing if it makes no sense. The gate judges what it says. */
export function parseLoosening(text: string): Loosening | null {
  try {
    const value: unknown = JSON.parse(text);
    const sensible = typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';
    return sensible ? (value as Loosening) : null;
  } catch {
    return null;
  }
}

export async function undo(app: App, toast: Toast): Promise<void> {
  const offered = toast.undo;
  // A second press, while the first one is under way, must not send the token again.
  if (!offered || toast.busy) return;
  toast.busy = true;
  try {
    if (toast.back) {
      await toast.back();
      app.toasts.close(toast.id);
      return;
    }
    const done = await app.backend.undo(offered.token);
    app.toasts.close(toast.id);
    tell(app, done, false);
  } catch (thrown) {
    app.fail(thrown);
  } finally {
    toast.busy = false;
    app.acts += 1;
    void app.refresh();
  }
}

/** Tells the agent why. Too late for the act itself (it can no longer be undone): then the same once more, with its reason. */
export async function giveReason(app: App, toast: Toast, reason: string): Promise<void> {
  if (!toast.undo || toast.busy) return;
  toast.busy = true;
  try {
    const done = await app.backend.giveReason(toast.undo.token, reason);
    toast.words = done.words;
    toast.undo = done.undo ?? toast.undo;
    toast.reason = false;
    app.toasts.release(toast.id, 'text');
  } catch (thrown) {
    const act = toast.act;
    if (BackendError.from(thrown).code === 'tooLate' && act && 'reason' in act) {
      if (await restrict(app, { ...act, reason })) app.toasts.close(toast.id);
    } else app.fail(thrown);
  } finally {
    toast.busy = false;
  }
}

/** A toast for what was done, which then says in how many sessions it holds. */
export function tell(app: App, done: Done, reason: boolean): Toast {
  const next = (done.caveats ?? []).map((caveat) => `But ${caveat}`);
  const toast = app.toasts.say(done.words, { undo: done.undo, reason: reason && done.undo !== null, next });
  if (done.server !== null && done.version !== null) void enforced(app, toast, done.server, done.version);
  return toast;
}

async function enforced(app: App, toast: Toast, server: string, version: string): Promise<void> {
  const end = Date.now() + pollFor;
  while (app.toasts.list.some((one) => one.id === toast.id)) {
    try {
      const { inForce, sessions } = await app.backend.enforcement(server, version);
      toast.enforced =
        sessions === 0
          ? 'holds from the next session on'
          : `enforced in ${inForce} of ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
      app.enforced = { ...app.enforced, [server]: { version, words: toast.enforced } };
      if (inForce >= sessions || Date.now() > end) return;
    } catch (thrown) {
      toast.enforced = BackendError.from(thrown).message;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollEvery));
  }
}

function yesWord(loosening: Loosening): string {
  switch (loosening.kind) {
    case 'resume':
      return 'Resume';
    case 'observe':
      return 'Only watch';
    case 'revert':
      return 'Revert';
    case 'cap':
      return 'Raise cap';
    case 'uncap':
      return 'Remove cap';
    case 'restoreDefault':
    case 'lastGood':
      return 'Put back';
    case 'acceptDefinitions':
      return 'Accept';
    case 'forgetDefinitions':
      return 'Give up';
    case 'removeDefinitions':
      return 'Remove';
    case 'letThrough':
      return 'Let through';
    default:
      return 'Allow';
  }
}
