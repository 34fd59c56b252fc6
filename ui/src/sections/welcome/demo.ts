// Starts the demonstration and goes where its calls arrive.
import type { App } from '../../lib/app.svelte';
import { formatHash } from '../../lib/router.svelte';

export async function startDemo(app: App): Promise<boolean> {
  try {
    await app.backend.startDemo();
  } catch (thrown) {
    app.fail(thrown);
    return false;
  }
  app.toasts.say('The demo runs: its calls arrive here.');
  void app.refresh();
  app.router.go(formatHash('activity'));
  return true;
}
