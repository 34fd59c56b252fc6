// The real gate, behind the window's commands.
import { Channel } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import { BackendError, type Backend, type Stop } from './backend';
import { commands, type LogBatch, type LogCount, type LogFilter, type UiError, type Usage } from './bindings';

type Answered<T> = Promise<{ status: 'ok'; data: T } | { status: 'error'; error: UiError }>;

async function data<T>(answered: Answered<T>): Promise<T> {
  const answer = await answered;
  if (answer.status === 'ok') return answer.data;
  throw new BackendError(answer.error);
}

const nothing = async (answered: Answered<null>): Promise<void> => void (await data(answered));

/** One kind of subscription, of which the host keeps only the newest. Start and stop have to reach it in the order in which
 *  they were called, or an old end stops a new start. One that answers only at its end is not waited for: it could not be
 *  stopped then. */
function subscription<M>(answersAtOnce: boolean) {
  let queue: Promise<unknown> = Promise.resolve();
  let newest = 0;

  function inOrder<T>(ask: () => Promise<T>): Promise<T> {
    const next = queue.then(ask, ask);
    queue = next.catch(() => undefined);
    return next;
  }

  return (
    start: (channel: Channel<M>) => Answered<null>,
    end: () => Answered<null>,
    on: (message: M) => void,
    failed: (error: BackendError) => void,
  ): Stop => {
    const mine = ++newest;
    let open = true;
    const channel = new Channel<M>();
    channel.onmessage = (message) => open && on(message);
    const sent = inOrder(async () => {
      const answered = start(channel);
      if (answersAtOnce) await answered;
      return { answered };
    });
    sent
      .then(({ answered }) => data(answered))
      .catch((thrown) => {
        const error = BackendError.from(thrown);
        // Superseded by a newer question: not an error, there is just nothing more to come.
        if (open && error.code !== 'cancelled') failed(error);
      });
    return () => {
      if (!open) return;
      open = false;
      // A newer one has ended this one already.
      void inOrder(async () => {
        if (mine === newest) await end();
      }).catch(() => undefined);
    };
  };
}

/** Batch by batch, the next one when the last one was taken: what this page cannot keep up with does not pile up before it.
 *  Starts have to reach the host in the order in which they were called, or an old one ends a newer one. */
function followed() {
  let starts: Promise<unknown> = Promise.resolve();

  return (
    filter: LogFilter,
    rev: number,
    on: (batch: LogBatch) => void,
    failed: (error: BackendError) => void,
  ): Stop => {
    let open = true;
    const begun = starts.then(() => (open ? data(commands.follow(filter, rev)) : null));
    starts = begun.catch(() => undefined);

    async function listen(): Promise<void> {
      const follower = await begun;
      while (open && follower !== null) {
        const batch = await data(commands.followed(follower));
        if (open) on(batch);
      }
    }
    listen().catch((thrown) => {
      const error = BackendError.from(thrown);
      // Superseded by a newer one: not an error, there is just nothing more to come.
      if (open && error.code !== 'cancelled') failed(error);
    });
    return () => {
      if (!open) return;
      open = false;
      const end = async () => {
        const follower = await begun;
        if (follower !== null) await commands.unfollow(follower);
      };
      end().catch(() => undefined);
    };
  };
}

const counting = subscription<LogCount>(false);
const following = followed();
const sampling = subscription<Usage[]>(true);

export function tauriBackend(): Backend {
  return {
    kind: 'real',
    logPage: (filter, from, count) => data(commands.logPage(filter, from, count)),
    count: (filter, on, failed) =>
      counting((channel) => commands.logCount(filter, channel), commands.stopCount, on, failed),
    follow: following,
    call: (id) => data(commands.call(id)),
    cancelCall: (id) => data(commands.cancelCall(id)),
    access: (queries) => data(commands.access(queries)),
    choices: () => data(commands.choices()),
    runs: (beforeMs, count) => data(commands.runs(beforeMs, count)),
    runsMatching: (filter, before, count) => data(commands.runsMatching(filter, before, count)),
    sinceLastLook: () => data(commands.sinceLastLook()),
    looked: () => nothing(commands.looked()),
    exportLog: (filter, format) => data(commands.exportLog(filter, format)),
    reveal: (path) => nothing(commands.reveal(path)),
    restrict: (restriction) => data(commands.restrict(restriction)),
    undo: (token) => data(commands.undo(token)),
    giveReason: (token, reason) => data(commands.giveReason(token, reason)),
    loosen: (loosening) => data(commands.loosen(loosening)),
    confirm: (token) => data(commands.confirm(token)),
    dismiss: (token) => nothing(commands.dismiss(token)),
    enforcement: (server, version) => data(commands.enforcement(server, version)),
    capAdvice: (target) => data(commands.capAdvice(target)),
    rulesSummary: () => data(commands.rulesSummary()),
    rules: (server) => data(commands.rules(server)),
    checkPolicy: (server, text) => data(commands.checkPolicy(server, text)),
    complete: (server, text, offset) => data(commands.complete(server, text, offset)),
    draftRule: (text, target, draft) => data(commands.draftRule(text, target, draft)),
    draftDefault: (text, action) => data(commands.draftDefault(text, action)),
    draftReady: (server, text, id, folder) => data(commands.draftReady(server, text, id, folder)),
    propose: (server, text) => data(commands.propose(server, text)),
    tryCall: (server, text, client, tool, args) => data(commands.tryCall(server, text, client, tool, args)),
    effect: (server, text, days) => data(commands.effect(server, text, days)),
    suggestRules: (server, days) => data(commands.suggestRules(server, days)),
    savePolicy: (server, baseText, text) => data(commands.savePolicy(server, baseText, text)),
    versions: (server) => data(commands.versions(server)),
    versionDiff: (server, change) => data(commands.versionDiff(server, change)),
    servers: () => data(commands.servers()),
    usage: (on, failed) => sampling((channel) => commands.usage(channel), commands.stopUsage, on, failed),
    stderrTail: (session, search) => data(commands.stderrTail(session, search)),
    trees: (server) => data(commands.trees(server)),
    happened: (server) => data(commands.happened(server)),
    strays: () => data(commands.strays()),
    sweep: () => data(commands.sweep()),
    endSuspects: (ids) => data(commands.endSuspects(ids)),
    endTree: (session) => data(commands.endTree(session)),
    atStake: (server, session) => data(commands.atStake(server, session)),
    codegen: (server) => data(commands.codegen(server)),
    codegenSession: (id) => data(commands.codegenSession(id)),
    codegenFile: (id) => data(commands.codegenFile(id)),
    exportCodegen: (id, path) => data(commands.exportCodegen(id, path)),
    stopServer: (server, session) => data(commands.stopServer(server, session)),
    startServer: (server, session) => data(commands.startServer(server, session)),
    restartServer: (server, session) => data(commands.restartServer(server, session)),
    stopEverything: () => data(commands.stopEverything()),
    overview: () => data(commands.overview()),
    clients: () => data(commands.clients()),
    previewClients: (act, entries) => data(commands.previewClients(act, entries)),
    changeClients: (act, entries, now) => data(commands.changeClients(act, entries, now)),
    leaveOpen: (entries) => nothing(commands.leaveOpen(entries)),
    takeNote: (entries) => nothing(commands.takeNote(entries)),
    dropQueued: (client, entries) => nothing(commands.dropQueued(client, entries)),
    clientBackups: () => data(commands.clientBackups()),
    previewBackup: (id) => data(commands.previewBackup(id)),
    restoreBackup: (id, now) => data(commands.restoreBackup(id, now)),
    repairFile: (client, path, now) => nothing(commands.repairFile(client, path, now)),
    reopenClient: (id) => nothing(commands.reopenClient(id)),
    testServer: (entry) => data(commands.testServer(entry)),
    previewSecrets: (act, entry, only) => data(commands.previewSecrets(act, entry, only)),
    changeSecrets: (act, entry, only, now) => data(commands.changeSecrets(act, entry, only, now)),
    purgeCopies: () => data(commands.purgeCopies()),
    serverPlaces: () => data(commands.serverPlaces()),
    previewServer: (draft) => data(commands.previewServer(draft)),
    addServer: (draft) => data(commands.addServer(draft)),
    previewRemoval: (server) => data(commands.previewRemoval(server)),
    removeServer: (server, now) => data(commands.removeServer(server, now)),
    restoreServer: (server) => data(commands.restoreServer(server)),
    settings: () => data(commands.settings()),
    saveSettings: (settings) => data(commands.saveSettings(settings)),
    deleteHistory: () => data(commands.deleteHistory()),
    startAtLogin: (yes) => data(commands.startAtLogin(yes)),
    startDemo: () => nothing(commands.startDemo()),
    onNavigate(on) {
      const listening = listen<string>('navigate', (event) => on(event.payload));
      return () => void listening.then((stop) => stop());
    },
  };
}
