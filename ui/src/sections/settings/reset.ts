/** A switch or a radio shows what is, also when it could not be saved: the browser has moved it already. */
export async function reset(
  saving: Promise<boolean>,
  controls: Iterable<HTMLInputElement>,
  isOn: (value: string) => boolean,
): Promise<void> {
  if (await saving) return;
  for (const control of controls) control.checked = isOn(control.value);
}

/** All choices of the group that this one is in. */
export const choicesOf = (radio: HTMLInputElement): Iterable<HTMLInputElement> =>
  document.querySelectorAll<HTMLInputElement>(`input[type=radio][name="${CSS.escape(radio.name)}"]`);
