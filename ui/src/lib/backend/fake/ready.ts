// The ready-made rules of the made-up gate. Which words and parts they really are is the desk's.
import type * as T from '../bindings';
import type { PolicyText } from './reading';

interface Part {
  title: string;
  words: string;
  /** The tool that a server has to list. */
  tool: string;
  path: string[];
  value: (folder: string) => unknown;
}

export const readyParts: Record<string, Part> = {
  'output-inside': {
    title: 'Files are written into one folder only',
    words: 'Each call has to name a place inside the folder, else a server makes and writes any.',
    tool: 'browser_navigate',
    path: ['tools', 'start_codegen_session', 'require'],
    value: (folder) => [{ path: 'args.options.outputPath', op: 'inside', value: folder }],
  },
  'web-only': {
    title: 'No local files in the browser',
    words: 'Only http and https addresses are opened, by any tool: with file: a page of text is any file of yours.',
    tool: 'browser_navigate',
    path: ['tools', 'playwright_navigate', 'require'],
    value: () => [{ path: 'args.url', op: 'regex', value: '^(?i:https?)://' }],
  },
  'one-open-session': {
    title: 'One open session at a time',
    words: 'A second start is refused while a session is open: actions would be recorded in the wrong one.',
    tool: 'browser_navigate',
    path: ['codegen', 'one_open_session'],
    value: () => true,
  },
  'own-sessions-only': {
    title: 'Only own sessions are ended or cleared',
    words: 'A client ends and clears the sessions that it started, and no others.',
    tool: 'browser_navigate',
    path: ['codegen', 'own_sessions_only'],
    value: () => true,
  },
  'keep-unfinished': {
    title: 'Recorded actions are not thrown away',
    words: 'A session that holds actions is not cleared before it was ended.',
    tool: 'browser_navigate',
    path: ['codegen', 'keep_unfinished'],
    value: () => true,
  },
  'files-read-only': {
    title: 'Files are read and never written',
    words: 'Writing, editing, moving and deleting are refused.',
    tool: 'write_file',
    path: ['tools', 'write_file', 'action'],
    value: () => 'deny',
  },
};

export function readyRules(policy: PolicyText, tools: string[]): T.ReadyRule[] {
  const fitting = Object.entries(readyParts).filter(([, part]) => tools.includes(part.tool));
  return fitting.map(([id, { title, words, path }]) => {
    const said = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], policy);
    return { id, title, words, folder: id === 'output-inside', state: said ? 'inForce' : 'offered' };
  });
}
