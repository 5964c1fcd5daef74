import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { ReasonDialog } from '../../parts/reason-dialog.tsx';
import { CloseCircuit, CreatePause, EndPause, type Place } from './providers.documents.ts';

/** What is paused, resumed or called again: a model, or a place (an address and credential) of a provider. */
export type Asked =
  | { act: 'pause'; name: string; target: { model: string } | { place: number } }
  | { act: 'resume'; name: string; pause: string }
  | { act: 'close'; place: Place };

interface Props {
  asked: Asked;
  onClose(): void;
  onDone(): void;
}

/** Asks for the reason before a model or provider is paused, resumed or called again. */
export function ActDialog({ asked, onClose, onDone }: Props) {
  const [refuseCreates, setRefuses] = useState(false);
  const said = (words: string) => {
    onDone();
    return words;
  };
  if (asked.act === 'pause') {
    const { name, target } = asked;
    return (
      <ReasonDialog
        title={`Pause ${name}?`}
        text="No waiting task starts there until the pause ends. What runs goes on."
        button="Pause"
        busy="Pausing…"
        leave="Leave it on"
        required
        onClose={onClose}
        onDo={async (reason = '') => {
          await mutate(CreatePause, { input: { ...target, reason, refuseCreates } });
          return said(`${name} is paused.`);
        }}
      >
        <Checkbox checked={refuseCreates} onChange={(event) => setRefuses(event.target.checked)}>
          Refuse new tasks that could not start
        </Checkbox>
      </ReasonDialog>
    );
  }
  if (asked.act === 'resume') {
    const { name, pause: id } = asked;
    return (
      <ReasonDialog
        title={`Resume ${name}?`}
        text="The tasks that the pause held wait for a worker again."
        button="Resume"
        busy="Resuming…"
        leave="Leave it paused"
        onClose={onClose}
        onDo={async (reason) => {
          await mutate(EndPause, { id, reason });
          return said('The pause has ended.');
        }}
      />
    );
  }
  const { place, provider } = asked.place;
  return (
    <ReasonDialog
      title={`Close the circuit of ${provider}?`}
      text="All processes call it again at once."
      button="Close circuit"
      busy="Closing…"
      leave="Leave it open"
      onClose={onClose}
      onDo={async (reason) => {
        await mutate(CloseCircuit, { place, reason });
        return said(`The circuit of ${provider} closes in each process.`);
      }}
    />
  );
}
