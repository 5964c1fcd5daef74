import { Ellipsis, Pencil, Power, RotateCw, Trash2 } from 'lucide-react';
import { MenuButton } from '../../parts/menu-button.tsx';

export type EndpointAct = 'edit' | 'rotate' | 'recover' | 'delete';

interface Props {
  enabled: boolean;
  onAct(act: EndpointAct): void;
  onDisable(): void;
}

export function EndpointMenu({ enabled, onAct, onDisable }: Props) {
  return (
    <MenuButton
      icon
      variant="quiet"
      label="More actions"
      trigger={<Ellipsis />}
      items={[
        { label: 'Edit', icon: <Pencil />, onSelect: () => onAct('edit') },
        { label: 'Rotate the secret', icon: <RotateCw />, onSelect: () => onAct('rotate') },
        ...(enabled ? [{ label: 'Disable', icon: <Power />, onSelect: onDisable }] : []),
        { label: 'Delete', icon: <Trash2 />, danger: true, line: true, onSelect: () => onAct('delete') },
      ]}
    />
  );
}
