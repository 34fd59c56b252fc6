// The page's host in a browser: what Tauri puts into its window, over HTTP to the bridge (`tests/bridge`). Development and tests
// only: nothing that is built imports it.

/** Lets this page talk to the bridge at `base`. */
export function connect(base) {
  const callbacks = new Map();
  // Others than those of the page that was here before a reload.
  let next = Math.floor(Math.random() * 2 ** 30);
  let listening = false;

  async function post(path, body) {
    const response = await fetch(new URL(path, base), { method: 'POST', body: JSON.stringify(body ?? {}) });
    return response.json();
  }

  /** Channels are fetched from the first one on. */
  async function listen() {
    if (listening) return;
    listening = true;
    for (;;)
      for (const { channel, ...message } of await post('channels'))
        // The channel of a page that was reloaded is nobody's.
        callbacks.get(channel)?.(message);
  }

  globalThis.__TAURI_INTERNALS__ = {
    async invoke(command, args) {
      // Nothing is told to a page from outside here.
      if (command.startsWith('plugin:')) return 0;
      const text = JSON.stringify(args ?? {});
      if (text.includes('__CHANNEL__:')) listen().catch(() => undefined);
      const answer = await post(`invoke/${command}`, args);
      if ('error' in answer) throw answer.error;
      return answer.ok;
    },
    transformCallback(callback) {
      callbacks.set(next, callback);
      return next++;
    },
    unregisterCallback: (id) => callbacks.delete(id),
  };
  globalThis.__TAURI_EVENT_PLUGIN_INTERNALS__ = { unregisterListener: () => undefined };
}

if (globalThis.location?.protocol.startsWith('http') && !globalThis.process?.env?.VITEST) connect(location.href);
