// Codegen sessions in words. Pure.
import type { CodegenState, CodegenView, Exported } from '../../lib/backend';
import { count } from '../../lib/format';

export const codegenStates: Record<CodegenState, { word: string; means: string }> = {
  open: { word: 'Open', means: 'The server records what the agent does.' },
  ended: { word: 'Ended', means: 'The server wrote a test of it.' },
  cleared: { word: 'Cleared', means: 'The server was told to forget it.' },
  lost: { word: 'Lost', means: 'The server went away before it was ended.' },
};

/** What became of the recorded actions, where nobody but Callgate has them any more; else nothing. */
export function thrownAway(session: CodegenView): string | null {
  if (!session.thrownAway) return null;
  const actions = count(session.actions, 'action');
  const are = session.actions === 1 ? 'is' : 'are';
  return session.state === 'cleared'
    ? `Clearing threw ${actions} away. Callgate still has ${session.actions === 1 ? 'it' : 'them'}.`
    : `The server went away with ${actions}, which ${are} saved here.`;
}

/** What the rules of now say to a clear of an open session; nothing where there is nothing to lose. */
export function clearing(session: CodegenView): { warn: boolean; keep: boolean; words: string } | null {
  const { clearing: said } = session;
  if (said === null) return null;
  if (said.kind === 'kept') return { warn: false, keep: false, words: 'Clearing is refused until it has ended.' };
  if (said.kind === 'refused') return { warn: false, keep: false, words: `Clearing is refused: ${said.reason}.` };
  const actions = count(session.actions, 'action');
  const warning = `The agent may clear this: ${actions} would be gone from the server. Callgate keeps its own copy.`;
  const watched = said.canBeKept ? '' : ' The rules here only watch, so that none of them refuses it.';
  return { warn: true, keep: said.canBeKept, words: warning + watched };
}

export const exportedTest = (done: Exported): string =>
  `Wrote a test of ${count(done.calls, 'action')} to ${done.path}`;
