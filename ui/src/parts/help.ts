// What the help (`?`) says. The table is that of docs/words.md, row by row: help.test.ts holds the two together.

export interface Want {
  want: string;
  use: string;
  command: string | null;
}

export const wants: readonly Want[] = [
  {
    want: 'put the gate in front of my servers',
    use: 'Clients, Protect my servers',
    command: 'callgate clients protect',
  },
  { want: 'take the gate away again', use: 'Clients, Unprotect', command: 'callgate clients unprotect' },
  {
    want: "put a client's file back as it was",
    use: 'Clients, Backups, Restore…',
    command: 'callgate clients restore',
  },
  {
    want: "keep tokens out of a client's file",
    use: 'Clients, Move to the keychain…',
    command: 'callgate secrets move',
  },
  {
    want: 'keep the gate where another program takes it away',
    use: 'Settings, Put a lost gate back by itself',
    command: null,
  },
  { want: 'read what a server wrote to stderr', use: 'Servers, its card', command: 'callgate stderr' },
  { want: 'find out why a server does not start', use: 'Clients, Test now', command: 'callgate doctor' },
  { want: 'find out what went wrong inside Callgate', use: 'in a terminal', command: 'callgate logs' },
  { want: 'take Callgate away altogether', use: 'in a terminal', command: 'callgate uninstall' },
  {
    want: 'give clients a server that none of them has',
    use: 'Clients, Add a server…',
    command: 'callgate add',
  },
  { want: 'take such a server away again', use: 'Clients, Remove…', command: 'callgate remove' },
  { want: 'see what an agent does now', use: 'Activity', command: 'callgate log --follow' },
  { want: 'find an old call', use: 'the filter of Activity (/), or paste its id', command: 'callgate log --search' },
  {
    want: 'know how often a tool was used, and how long it takes',
    use: 'in a terminal',
    command: 'callgate stats',
  },
  { want: 'know why a call was refused', use: 'Enter on its row', command: 'callgate show' },
  {
    want: 'decide about each call of a tool before it runs',
    use: 'Ask from now on, then Approvals',
    command: 'callgate ask',
  },
  { want: 'stop a tool at once', use: 'Block', command: 'callgate block' },
  { want: 'stop a server at once', use: 'Block, whole server', command: 'callgate block' },
  { want: 'refuse every call at once', use: 'Pause all', command: 'callgate pause' },
  {
    want: 'stop everything at once, servers and their browsers too',
    use: 'Stop everything',
    command: 'callgate stop --all',
  },
  { want: 'slow a loop down', use: 'Cap', command: 'callgate cap' },
  { want: 'end one call that hangs', use: 'Cancel, in its drawer', command: 'callgate cancel' },
  { want: "keep a tool from an agent's mind", use: 'Hide', command: 'callgate hide' },
  { want: 'let one refused call through', use: 'Allow the next identical call', command: 'callgate allow --once' },
  { want: 'let a tool through for a while', use: 'Allow for 15 min', command: 'callgate allow --for' },
  { want: 'see what rules would do, without harm', use: 'Only watch', command: 'callgate observe' },
  {
    want: 'permit a tool, but not with every argument',
    use: 'Rules, its row, Refuse when…',
    command: 'callgate policy apply',
  },
  {
    want: 'keep a tool inside a folder',
    use: 'Rules, its row, Require… any path, inside',
    command: 'callgate policy apply',
  },
  { want: 'have rules that fit what I do', use: 'Rules, Suggest rules from use', command: 'callgate policy suggest' },
  {
    want: 'know what a change of rules would have decided otherwise',
    use: 'Rules: the effect is shown before saving',
    command: 'callgate policy simulate',
  },
  { want: 'know what would happen to a call', use: 'Try a call', command: 'callgate policy explain' },
  { want: 'know everything that my agents can call', use: 'Overview', command: 'callgate overview' },
  {
    want: 'know what a server could do before I add it',
    use: 'Tools, Catalogue',
    command: 'callgate catalogue',
  },
  {
    want: 'know what a tool can do, and what to do about it',
    use: 'Tools, its page',
    command: 'callgate tool',
  },
  {
    want: 'begin with rules for a whole server',
    use: 'Tools, its server, Begin with rules',
    command: 'callgate scan',
  },
  { want: 'see the rules of all servers at once', use: 'Rules, All servers', command: null },
  {
    want: 'change what counts for servers without rules of their own',
    use: 'Rules, Default policy',
    command: null,
  },
  { want: 'take an old change back', use: 'Rules, Versions, Revert', command: 'callgate policy revert' },
  { want: 'keep less on record', use: 'Settings, Recording', command: 'callgate settings set' },
  { want: 'forget what is on record', use: 'Settings, Delete history', command: 'callgate forget' },
  {
    want: 'keep an agent from clearing what it recorded',
    use: 'Servers, Codegen sessions, Keep until it ends',
    command: null,
  },
  {
    want: 'save what a codegen session recorded, also when it was cleared or lost',
    use: 'Servers, Codegen sessions, Export as Playwright test',
    command: 'callgate codegen export',
  },
  { want: 'show somebody what happened', use: 'Export', command: 'callgate export' },
];

export interface Key {
  keys: readonly string[];
  does: string;
}

export interface KeyGroup {
  where: string;
  keys: readonly Key[];
}

export const keyGroups: readonly KeyGroup[] = [
  {
    where: 'Everywhere',
    keys: [
      { keys: ['1–8'], does: 'go to a section' },
      { keys: ['Ctrl K', '⌘ K'], does: 'go anywhere, do anything' },
      { keys: ['?'], does: 'this help' },
      { keys: ['u'], does: 'Undo, while it is offered' },
      { keys: ['Esc'], does: 'close, go back' },
      { keys: ['Tab'], does: 'to what comes next: drawer, toasts' },
      { keys: ['←', '→'], does: "the drawer's width, at its edge" },
    ],
  },
  {
    where: 'In the log',
    keys: [
      { keys: ['j', 'k', '↓', '↑'], does: 'move; also in Runs' },
      { keys: ['Page ↓', 'Page ↑'], does: 'move further' },
      { keys: ['Home', 'End'], does: 'to the oldest, to the newest' },
      { keys: ['→', '←'], does: 'open a row of several calls, close it' },
      { keys: ['Enter'], does: 'open the call, or the run' },
      { keys: ['/'], does: 'filter; Esc empties and leaves it' },
      { keys: ['f'], does: 'follow the newest' },
      { keys: ['b'], does: 'Block' },
      { keys: ['c'], does: 'Cap' },
      { keys: ['h'], does: 'Hide' },
      { keys: ['a'], does: 'Allow, for a refused call' },
      { keys: ['r'], does: 'Revert, for a change' },
      { keys: ['.', 'Shift F10'], does: 'everything that can be done about it' },
    ],
  },
  {
    where: 'In the tools',
    keys: [
      { keys: ['/'], does: 'find a tool' },
      { keys: ['Enter'], does: 'open its page' },
    ],
  },
  {
    where: 'In the rules',
    keys: [
      { keys: ['/'], does: 'find a tool' },
      { keys: ['Enter'], does: "open the tool's rule" },
      { keys: ['Ctrl S', '⌘ S'], does: 'Save' },
      { keys: ['Ctrl Space'], does: 'what could stand here (in the text)' },
      { keys: ['Esc', 'then Tab'], does: 'leave the text with the keyboard' },
    ],
  },
];

export interface Word {
  word: string;
  means: string;
}

/** The words that people mix up; all of them are in docs/words.md. */
export const words: readonly Word[] = [
  { word: 'refused', means: 'it did not get to its server: denied, capped, hidden, paused…' },
  { word: 'failed', means: 'it got to its server and ended with an error, or without an answer' },
  { word: 'Block', means: 'refuse, with a reason; the tool is still listed' },
  { word: 'Hide', means: "off the agent's list, and refused" },
  { word: 'Cap', means: 'refused when it was called so often in so long' },
  { word: 'Pause', means: 'every call is refused; the server goes on running' },
  { word: 'Only watch', means: 'nothing is refused for a while, only recorded' },
  { word: 'Undo', means: 'within 10 seconds' },
  { word: 'Revert', means: 'one change of a policy, however old' },
  { word: 'Protect', means: "the gate in front of a server, by an edit of its client's file" },
  { word: 'Restore', means: "a client's whole file, as a backup has it" },
  { word: 'session', means: 'one start of one server by one client' },
  { word: 'run', means: 'a part of a session, until the client paused for a while' },
];
