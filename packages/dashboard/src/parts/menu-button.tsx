import { type ComponentProps, lazy, Suspense } from 'react';
import { buttonClass } from './button.tsx';

/** The menu is a third of a screen's code, so it is loaded after the first paint. */
const Menu = lazy(() => import('./menu.tsx'));

export type { MenuItem } from './menu.tsx';

export function MenuButton(props: ComponentProps<typeof Menu>) {
  return (
    <Suspense
      fallback={
        <button
          type="button"
          disabled
          className={buttonClass({ icon: props.icon ?? false, variant: props.variant })}
          aria-label={props.label}
        >
          {props.trigger}
        </button>
      }
    >
      <Menu {...props} />
    </Suspense>
  );
}
